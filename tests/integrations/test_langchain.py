import asyncio
import sys

import pytest

from statgraph.errors import DependencyError, RunError, UsageError

pytest.importorskip("langchain_core")


@pytest.fixture
def retriever_class():
    from statgraph.integrations.langchain import StatgraphRetriever

    return StatgraphRetriever


def test_documents_are_the_hits_best_first(retriever_class, run):
    from langchain_core.documents import Document

    retriever = retriever_class(run=run, k=2)
    documents = retriever.invoke("the deposit")
    assert all(isinstance(document, Document) for document in documents)
    assert [(document.id, document.page_content) for document in documents] == [
        ("D1", "The deposit is returned."),
        ("K1", "Keys and deposit are handed back to whom the lease names."),
    ]
    first = documents[0].metadata
    assert (first["article_id"], first["title"], first["path"], first["rank"]) == (
        "D1", "Art. 1", ["Rent Code", "The lease"], 1,
    )  # fmt: skip
    assert first["score"] > documents[1].metadata["score"] > 0
    assert asyncio.run(retriever.ainvoke("the deposit")) == documents


def test_the_day_decides_which_law_is_searched(retriever_class, run):
    assert [document.id for document in retriever_class(run=run, k=3).invoke("notice of the deposit")] == ["D1", "K1"]
    assert retriever_class(run=str(run), as_of="2019-01-01").invoke("notice")[0].id == "N1"


def test_it_is_a_part_of_a_chain(retriever_class, run):
    chain = retriever_class(run=run, k=1) | (lambda documents: documents[0].metadata["title"])
    assert chain.invoke("keys") == "Art. 3"


def test_what_is_wrong_is_told(retriever_class, run, tmp_path):
    with pytest.raises(RunError, match="no such run folder"):
        retriever_class(run=tmp_path / "none")
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        retriever_class(run=run, k=0)
    with pytest.raises(ValueError, match=r"asof\n  Extra inputs are not permitted"):
        retriever_class(run=run, asof="2019-01-01")
    with pytest.raises(UsageError, match="the question is blank"):
        retriever_class(run=run).invoke(" ")


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.delitem(sys.modules, "statgraph.integrations.langchain", raising=False)
    monkeypatch.setitem(sys.modules, "langchain_core.callbacks", None)
    with pytest.raises(
        DependencyError, match=r"^langchain_core.callbacks: not installed; run: pip install 'statgraph\[langchain\]'$"
    ):
        import statgraph.integrations.langchain  # noqa: F401
