"""The retriever as LangChain and LlamaIndex take it: equal but for their names of things."""

import asyncio
import importlib
import sys
from types import SimpleNamespace

import pytest

from statgraph import Retriever
from statgraph.errors import DependencyError, RunError, UsageError


@pytest.fixture
def langchain():
    pytest.importorskip("langchain_core")
    from statgraph.integrations.langchain import StatgraphRetriever

    def about(document):
        return document.id, document.page_content, document.metadata

    return SimpleNamespace(cls=StatgraphRetriever, ask="invoke", ask_async="ainvoke", record="Document", about=about)


@pytest.fixture
def llamaindex():
    pytest.importorskip("llama_index.core")
    from statgraph.integrations.llamaindex import StatgraphRetriever

    def about(node):
        assert node.score == node.metadata["score"]
        return node.node_id, node.text, node.metadata

    return SimpleNamespace(
        cls=StatgraphRetriever, ask="retrieve", ask_async="aretrieve", record="NodeWithScore", about=about
    )


@pytest.fixture(params=["langchain", "llamaindex"])
def framework(request):
    return request.getfixturevalue(request.param)


def test_what_it_finds_are_the_hits_best_first(framework, run):
    retriever = framework.cls(run=run, k=2)
    found = getattr(retriever, framework.ask)("the deposit")
    assert [type(record).__name__ for record in found] == [framework.record] * 2
    assert asyncio.run(getattr(retriever, framework.ask_async)("the deposit")) == found
    (first_id, first_text, first), (second_id, second_text, second) = map(framework.about, found)
    assert (first_id, first_text) == ("D1", "The deposit is returned.")
    assert (second_id, second_text) == ("K1", "Keys and deposit are handed back to whom the lease names.")
    assert first.pop("score") > second["score"] > 0
    assert first == {"article_id": "D1", "title": "Art. 1", "path": ["Rent Code", "The lease"], "rank": 1}


def test_the_day_decides_which_law_is_searched(framework, run):
    def ids(question, **options):
        return [framework.about(found)[0] for found in getattr(framework.cls(**options), framework.ask)(question)]

    assert ids("notice of the deposit", run=run, k=3) == ["D1", "K1"]
    assert ids("notice", run=str(run), as_of="2019-01-01")[0] == "N1"


def test_an_ensemble_is_searched_too(framework, ensemble_run):
    def about(question, **options):
        retriever = framework.cls(run=ensemble_run, **options)
        return [framework.about(record) for record in getattr(retriever, framework.ask)(question)]

    hits = Retriever.load(ensemble_run).search("the deposit", k=2)
    found = about("the deposit", k=2)
    assert [(article_id, metadata["score"]) for article_id, _, metadata in found] == [
        (hit.article_id, hit.score) for hit in hits
    ]
    assert found[0][0] == "D1"
    # The citation signal finds what BM25 has no word for; on a day after its end the article is not searched.
    assert about("Art. 2", k=1, as_of="2019-01-01")[0][0] == "N1"
    assert "N1" not in [article_id for article_id, *_ in about("Art. 2 and notice", as_of="2021-01-01")]


def test_it_is_a_part_of_a_chain(langchain, run):
    chain = langchain.cls(run=run, k=1) | (lambda documents: documents[0].metadata["title"])
    assert chain.invoke("keys") == "Art. 3"


def test_what_is_wrong_is_told(framework, run, tmp_path):
    with pytest.raises(RunError, match="no such run folder"):
        framework.cls(run=tmp_path / "none")
    with pytest.raises(UsageError, match="the question is blank"):
        getattr(framework.cls(run=run), framework.ask)(" ")


def test_options_out_of_range_are_refused(langchain, llamaindex, run):
    with pytest.raises(ValueError, match="greater than or equal to 1"):
        langchain.cls(run=run, k=0)
    with pytest.raises(ValueError, match=r"asof\n  Extra inputs are not permitted"):
        langchain.cls(run=run, asof="2019-01-01")
    with pytest.raises(UsageError, match="k is 0"):
        llamaindex.cls(run, k=0).retrieve("keys")


@pytest.mark.parametrize(
    ("extra", "module"),
    [("langchain", "langchain_core.callbacks"), ("llamaindex", "llama_index.core.base.base_retriever")],
)
def test_a_missing_extra_is_one_line(monkeypatch, extra, module):
    monkeypatch.delitem(sys.modules, f"statgraph.integrations.{extra}", raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError, match=rf"not installed; run: pip install 'statgraph\[{extra}\]'$"):
        importlib.import_module(f"statgraph.integrations.{extra}")
