from pathlib import Path

import numpy as np
import pytest

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.reindexing import reindex
from statgraph.runs import parts


@pytest.fixture
def index_folder(dense_run) -> Path:
    return dense_run / parts.INDEX


@pytest.fixture
def large_run(index_folder) -> Path:
    """Return a run whose index holds 40 vectors of width 4: enough to learn codes from."""
    vectors = np.random.default_rng(0).standard_normal((40, 4)).astype(np.float32)
    ids = [f"a{row}" for row in range(40)]
    ArticleIndex.build(vectors, ids, device="cpu", unit_length=False).save(index_folder)
    return index_folder.parent


def test_the_summary_says_what_the_new_index_is(large_run, index_folder):
    summary = reindex(large_run, IndexConfig("ivf-pq"))
    assert (summary.kind, summary.articles, summary.rounded) == ("ivf-pq", 40, False)
    assert summary.memory_bytes == (index_folder / "index.faiss").stat().st_size
    assert summary.disk_bytes == sum(path.stat().st_size for path in index_folder.iterdir()) > summary.memory_bytes
    assert ArticleIndex.load(index_folder, device="cpu").kind == "ivf-pq"


def test_there_and_back_leaves_the_same_bytes(large_run, index_folder):
    files = {path.name: path.read_bytes() for path in index_folder.iterdir()}
    for kind in ("ivf-pq", "flat"):
        assert reindex(large_run, IndexConfig(kind)).kind == kind
    assert {path.name: path.read_bytes() for path in index_folder.iterdir()} == files


def test_rounded_vectors_are_told_of(large_run):
    half = IndexConfig("ivf-pq", ivf_pq=IvfPqConfig(precision="float16"))
    assert reindex(large_run, half).rounded
    assert reindex(large_run, IndexConfig("flat")).rounded


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()])
def test_an_interrupted_change_leaves_the_old_index(large_run, index_folder, monkeypatch, failure):
    def fail(*_, **__):
        raise failure

    files = {path.name: path.read_bytes() for path in index_folder.iterdir()}
    monkeypatch.setattr("numpy.save", fail)
    with pytest.raises(type(failure)):
        reindex(large_run, IndexConfig("ivf-pq"))
    assert {path.name: path.read_bytes() for path in index_folder.iterdir()} == files
    assert sorted(path.name for path in large_run.iterdir() if "index" in path.name) == ["index"]


def test_too_few_articles_for_a_kind_change_nothing(dense_run, index_folder):
    with pytest.raises(RunError, match="ivf-pq needs at least 16 articles"):
        reindex(dense_run, IndexConfig("ivf-pq"))
    with pytest.raises(UsageError, match=r"kind: .*'annoy'"):
        reindex(dense_run, IndexConfig("annoy"))
    assert ArticleIndex.load(index_folder, device="cpu").kind == "flat"
