import asyncio
import sys

import pytest

from statgraph.errors import DependencyError, RunError, UsageError

pytest.importorskip("llama_index.core")


@pytest.fixture
def retriever_class():
    from statgraph.integrations.llamaindex import StatgraphRetriever

    return StatgraphRetriever


def test_nodes_are_the_hits_best_first(retriever_class, run):
    from llama_index.core.schema import NodeWithScore

    retriever = retriever_class(run, k=2)
    nodes = retriever.retrieve("the deposit")
    assert all(isinstance(node, NodeWithScore) for node in nodes)
    assert [(node.node_id, node.text) for node in nodes] == [
        ("D1", "The deposit is returned."),
        ("K1", "Keys and deposit are handed back to whom the lease names."),
    ]
    first = nodes[0].metadata
    assert (first["article_id"], first["title"], first["path"], first["rank"]) == (
        "D1", "Art. 1", ["Rent Code", "The lease"], 1,
    )  # fmt: skip
    assert nodes[0].score == first["score"] > nodes[1].score > 0
    assert asyncio.run(retriever.aretrieve("the deposit")) == nodes


def test_the_day_decides_which_law_is_searched(retriever_class, run):
    assert [node.node_id for node in retriever_class(run, k=3).retrieve("notice of the deposit")] == ["D1", "K1"]
    assert retriever_class(str(run), as_of="2019-01-01").retrieve("notice")[0].node_id == "N1"


def test_what_is_wrong_is_told(retriever_class, run, tmp_path):
    with pytest.raises(RunError, match="no such run folder"):
        retriever_class(tmp_path / "none")
    with pytest.raises(UsageError, match="k is 0; ask for at least 1 hit"):
        retriever_class(run, k=0).retrieve("keys")


def test_a_missing_extra_is_one_line(monkeypatch):
    monkeypatch.delitem(sys.modules, "statgraph.integrations.llamaindex", raising=False)
    monkeypatch.setitem(sys.modules, "llama_index.core.base.base_retriever", None)
    with pytest.raises(DependencyError, match=r"not installed; run: pip install 'statgraph\[llamaindex\]'$"):
        import statgraph.integrations.llamaindex  # noqa: F401
