import numpy as np
import pytest

from statgraph.config import HnswConfig, IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.encoders.similarity import Euclidean
from statgraph.errors import RunError
from statgraph.index import hnsw_index
from statgraph.index.article_index import ArticleIndex
from statgraph.index.hnsw_index import HnswIndex

CONFIG = IndexConfig("hnsw", hnsw=HnswConfig(links=8, build_breadth=40, search_breadth=40))


def test_few_vectors_are_ranked_by_hand(compass):
    index = HnswIndex.build(compass, CONFIG, device="cpu")
    scores, rows = index.search(np.array([[0.6, 0.8]], dtype=np.float32), 3)
    assert rows.tolist() == [[4, 1, 0]]  # north-east, north, east
    assert scores[0] == pytest.approx([1.4 * np.sqrt(0.5), 0.8, 0.6])
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_it_finds_nearly_all_of_the_best(clustered, exact_best, recall):
    vectors, queries = clustered(3000, 50, seed=1)
    scores, rows = HnswIndex.build(vectors, CONFIG, device="cpu").search(queries, 20)
    assert recall(exact_best(vectors, queries, 20)[1], rows) >= 0.95
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=1e-6)
    assert all(len(set(found)) == 20 for found in rows.tolist())


def test_vectors_of_any_length_are_found_by_inner_product(clustered, exact_best, recall):
    vectors, queries = clustered(3000, 50, seed=2)
    vectors *= np.random.default_rng(3).uniform(0.5, 2, size=(3000, 1)).astype(np.float32)
    index = HnswIndex.build(vectors, CONFIG, device="cpu")
    scores, rows = index.search(queries, 20)
    expected_scores, expected_rows = exact_best(vectors, queries, 20)
    assert recall(expected_rows, rows) >= 0.95
    assert scores[:, 0] == pytest.approx(expected_scores[:, 0], abs=1e-5)
    assert (index.width, (index.vectors == vectors).all()) == (16, True)


def test_the_nearest_by_distance_are_found(clustered, exact_best, recall):
    # The component -|a|^2 / 2 (text/similarity.py) would draw every walk to the shortest vectors, were lengths not made
    # equal: recall would be 0.01.
    articles, queries = clustered(3000, 50, seed=6)
    articles *= np.random.default_rng(7).normal(10, 1, size=(3000, 1)).astype(np.float32)
    vectors, asked = Euclidean().index_vectors(articles), Euclidean().query_vectors(10 * queries)
    _, rows = HnswIndex.build(vectors, CONFIG, device="cpu").search(asked, 20)
    assert recall(exact_best(vectors, asked, 20)[1], rows) >= 0.9


def test_articles_the_walk_cannot_reach_are_found_exactly(compass, monkeypatch):
    index = HnswIndex.build(compass, CONFIG, device="cpu")
    lost = (np.full((1, 3), -np.inf, dtype=np.float32), np.array([[1, -1, -1]]))
    monkeypatch.setattr(index._graph, "search", lambda *_, **__: lost)
    assert index.search(np.array([[0.6, 0.8]], dtype=np.float32), 3)[1].tolist() == [[4, 1, 0]]


def test_all_articles_can_be_asked_for(clustered):
    vectors, queries = clustered(300, 3, seed=4)
    _, rows = HnswIndex.build(vectors, CONFIG, device="cpu").search(queries, 300)
    assert np.sort(rows, axis=1).tolist() == [list(range(300))] * 3


def test_it_comes_back_from_its_folder(tmp_path, clustered):
    vectors, queries = clustered(500, 4, seed=5)
    vectors = 3 * vectors * np.linspace(1, 2, 500, dtype=np.float32)[:, None]
    ids = [f"a{row}" for row in range(500)]
    index = ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=CONFIG)
    index.save(tmp_path / "index")
    loaded = ArticleIndex.load(tmp_path / "index", device="cpu")
    assert (loaded.kind, len(loaded), loaded.width, loaded.precision) == ("hnsw", 500, 16, "float32")
    assert (loaded.vectors == vectors).all()
    for saved, again in zip(index.search(queries, 30), loaded.search(queries, 30), strict=True):
        assert (saved == again).all()


def test_altered_vectors_are_refused(tmp_path, compass):
    ArticleIndex.build(compass, list("ABCDE"), device="cpu", config=CONFIG).save(tmp_path / "index")
    path = tmp_path / "index" / "index.faiss"
    whole = path.read_bytes()
    place = whole.rindex(np.array([0, -1], dtype="<f4").tobytes())  # south, the fourth
    path.write_bytes(whole[:place] + np.array([3, 4], dtype="<f4").tobytes() + whole[place + 8 :])
    with pytest.raises(RunError, match=r": the vector of article 'D' has length 5, not 1 \(1 of 5 are wrong\); "):
        ArticleIndex.load(tmp_path / "index", device="cpu")


@pytest.fixture
def always_walking(monkeypatch):
    """Make the walk search among few articles too."""
    monkeypatch.setattr(hnsw_index, "COMPARED_MOST", 0)
    monkeypatch.setattr(hnsw_index, "_COMPARED_SHARE", 10**6)


def test_a_walk_finds_nearly_all_of_the_best_among_some(clustered, exact_best, recall, always_walking):
    vectors, queries = clustered(3000, 50, seed=1)
    allowed = AllowedRows.of_mask(np.random.default_rng(2).random(3000) < 0.2)
    scores, rows = HnswIndex.build(vectors, CONFIG, device="cpu").search(queries, 20, allowed)
    assert recall(allowed.rows[exact_best(vectors[allowed.rows], queries, 20)[1]], rows) >= 0.95
    assert np.isin(rows, allowed.rows).all()
    assert scores == pytest.approx(np.einsum("qkd,qd->qk", vectors[rows], queries), abs=1e-6)


def test_articles_far_from_every_walk_are_found_exactly(clustered, exact_best, always_walking):
    vectors, _ = clustered(3000, 0, seed=1)
    allowed = AllowedRows.checked(np.argsort(vectors @ vectors[0])[:30], len(vectors))  # opposite to the question
    _, rows = HnswIndex.build(vectors, CONFIG, device="cpu").search(vectors[:1], 20, allowed)
    assert rows.tolist() == allowed.rows[exact_best(vectors[allowed.rows], vectors[:1], 20)[1]].tolist()
