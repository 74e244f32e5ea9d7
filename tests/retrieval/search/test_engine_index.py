import numpy as np
import pytest

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.errors import EngineError, RunError, UsageError
from statgraph.law.allowed_rows import ANYWHERE, AllowedRows, Where
from statgraph.retrieval.index.engines.contract import EngineAddress, RankedIds
from statgraph.retrieval.search.engine_index import EngineIndex, write_to_engine
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder


@pytest.fixture
def address(tmp_path) -> EngineAddress:
    """Return an engine in a folder that is not there yet."""
    return EngineAddress("faiss", str(tmp_path / "engine"))


class TestEveryEngineOfARun:
    def test_an_engine_answers_as_the_run_s_own_index_does(self, dense_run, address):
        own = Retriever.load(dense_run, device="cpu")
        summary = write_to_engine(RunFolder.read(dense_run), address, IndexConfig())
        assert (summary.written.articles, summary.written.changed, summary.written.removed) == (3, 3, 0)
        (dense_run / parts.INDEX / "index.faiss").unlink()  # a reader of an engine does without it
        from_engine = Retriever.load(dense_run, device="cpu", engine=address)
        for limits in (
            {},
            {"codes": ["Rent Code"], "heading": ("Rent Code", "Book I. Leases")},
            {"among": [1, 2], "as_of": "2020-01-01"},
            {"among": np.array([], dtype=np.int64)},
        ):
            assert from_engine.search("deposit or notice", 2, **limits) == own.search("deposit or notice", 2, **limits)
        assert from_engine.explain("deposit", own.search("deposit")) == own.explain("deposit", own.search("deposit"))

    def test_a_run_that_was_trained_or_updated_since_is_refused(self, dense_run, address):
        write_to_engine(RunFolder.read(dense_run), address, IndexConfig())
        manifest = dense_run / artifacts.MANIFEST
        artifacts.write_json(manifest, artifacts.read_json(manifest) | {"updates": [{"added": 1}]})
        with pytest.raises(EngineError, match="another run"):
            Retriever.load(dense_run, device="cpu", engine=address)
        write_to_engine(RunFolder.read(dense_run), address, IndexConfig())
        assert Retriever.load(dense_run, device="cpu", engine=address).search("deposit", 1)[0].article_id == "D1"

    def test_a_run_without_vectors_is_refused(self, bm25_run, address):
        with pytest.raises(RunError, match="BM25"):
            write_to_engine(RunFolder.read(bm25_run), address, IndexConfig())
        with pytest.raises(RunError, match="without engine"):
            Retriever.load(bm25_run, device="cpu", engine=address)

    def test_an_engine_without_the_run_is_refused_before_the_encoder_is_read(self, dense_run, address):
        (dense_run / parts.QUERY_ENCODER).unlink()
        with pytest.raises(EngineError, match=r"no such file or folder"):
            Retriever.load(dense_run, device="cpu", engine=address)
        with pytest.raises(UsageError, match="annoy"):
            Retriever.load(dense_run, device="cpu", engine=EngineAddress("annoy", address.uri))

    def test_columns_are_those_of_the_stored_articles(self, dense_run, address):
        np.save(dense_run / "articles.dates.npy", np.array([[1, 5], [0, 9], [7, 9]], dtype=np.int32))
        write_to_engine(RunFolder.read(dense_run), address, IndexConfig())
        engine = EngineIndex.open(RunFolder.read(dense_run), address)
        for day in (0, 5, 7):
            allowed = ArticleStore(dense_run).in_force(day)
            ((rows, _),) = engine.search(np.ones((1, 2), dtype=np.float32), 3, allowed)
            assert sorted(rows.tolist()) == allowed.rows.tolist()


class Recorder:
    """Stands for an engine: keeps the condition, and ranks ties in its own order."""

    def search(self, vectors, k, where):
        self.asked = where
        return [RankedIds(("b", "c", "a"), np.array([0.5, 0.5, 0.5], dtype=np.float32))]


@pytest.mark.parametrize(
    ("allowed", "asked"),
    [
        (None, ANYWHERE),
        (AllowedRows.of_mask(np.array([True] * 3), Where(day=1)), ANYWHERE),
        (AllowedRows.of_mask(np.array([True, False, True]), Where(day=1)), Where(day=1)),
        (AllowedRows.of_mask(np.array([True, False, True])), Where(ids=("a", "c"))),
        (AllowedRows.of_mask(np.array([False] * 3), Where(day=1)), Where(ids=())),
    ],
)
def test_an_engine_is_asked_by_columns_where_the_rows_were_chosen_by_them(allowed, asked):
    engine = Recorder()
    ((rows, scores),) = EngineIndex(engine, "abc").search(np.ones((1, 2), dtype=np.float32), 3, allowed)
    assert (engine.asked, rows.tolist()) == (asked, [0, 1, 2])  # ties by row
    assert scores.tolist() == [0.5, 0.5, 0.5]
