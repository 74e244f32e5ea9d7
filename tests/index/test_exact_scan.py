import numpy as np
import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index import exact_scan, products
from statgraph.index.exact_scan import ExactScan


@pytest.fixture(autouse=True, params=[1, 1 << 40], ids=["torch", "a loop"])
def routine(request, monkeypatch):
    """Let each of the routines multiply, whatever the size."""
    pytest.importorskip("torch")
    monkeypatch.setattr(products, "_FEW_VALUES", request.param)


@pytest.fixture(params=[(1, 1), (70, 3), (1 << 16, 128)], ids=["one row at a time", "some rows", "all rows"])
def blocks(request, monkeypatch):
    """Make products of blocks of a few articles and questions, so that rankings are put together of many."""
    monkeypatch.setattr(exact_scan, "_BLOCK_ROWS", request.param[0])
    monkeypatch.setattr(exact_scan, "_BLOCK_QUERIES", request.param[1])


def by_hand(vectors: np.ndarray, queries: np.ndarray, k: int) -> tuple[list, list]:
    """Return the scores and rows of a full sort; the vectors hold whole numbers, whose products have no rounding."""
    scores = queries @ vectors.T
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, rows, axis=1).tolist(), rows.tolist()


@pytest.mark.parametrize("k", [1, 2, 7, 64, 150, 299, 300])
def test_many_equal_scores_go_by_row(blocks, k):
    # Scores of 300 articles from -6 to 6: every cut goes through a tie.
    rng = np.random.default_rng(1)
    vectors, queries = (rng.integers(-1, 2, size=(n, 6)).astype(np.float32) for n in (300, 9))
    scores, rows = ExactScan(vectors).search(queries, k)
    assert (scores.tolist(), rows.tolist()) == by_hand(vectors, queries, k)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("step", [2, 3, 15])  # some are taken out of the products of all, the fewest multiplied apart
def test_equal_scores_among_some_go_by_row(blocks, k, step):
    rng = np.random.default_rng(2)
    vectors, queries = (rng.integers(-1, 2, size=(n, 6)).astype(np.float32) for n in (300, 9))
    allowed = AllowedRows.checked(range(0, 300, step), 300)
    scores, rows = ExactScan(vectors).search(queries, k, allowed)
    expected_scores, expected_rows = by_hand(vectors[allowed.rows], queries, k)
    assert (scores.tolist(), rows.tolist()) == (expected_scores, allowed.rows[expected_rows].tolist())


def test_equal_vectors_tie_wherever_they_stand(unit_vectors):
    # A matrix product adds the last rows in another order than the first; 1,003 copies of one vector score alike.
    vectors = np.repeat(unit_vectors(1, 383, seed=1), 1003, axis=0)
    for n_queries in (1, 2, 33):
        scores, rows = ExactScan(vectors).search(unit_vectors(n_queries, 383, seed=2), 500)
        assert (rows == np.arange(500)).all()
        assert (scores == scores[:, :1]).all()


def test_scores_a_rounding_apart_stand_in_the_order_of_their_own(unit_vectors):
    # Vectors that differ in the last bits: the product puts them in another order than their scores do.
    rng = np.random.default_rng(3)
    vectors = np.repeat(unit_vectors(1, 384, seed=4), 4000, axis=0)
    vectors *= 1 + rng.integers(-2, 3, size=vectors.shape).astype(np.float32) * 2.0**-23
    queries = unit_vectors(40, 384, seed=4 + 1)
    scan = ExactScan(vectors)
    scores, rows = scan.search(queries, 100)
    everything, all_rows = scan.search(queries, 4000)
    assert (rows == all_rows[:, :100]).all()
    assert (scores == everything[:, :100]).all()
    assert (np.diff(everything, axis=1) <= 0).all()


def test_a_batch_is_its_questions_to_the_last_bit(unit_vectors):
    vectors, queries = unit_vectors(5000, 100, seed=5), unit_vectors(70, 100, seed=6)
    scan = ExactScan(vectors)
    scores, rows = scan.search(queries, 30)
    for place in range(70):
        one_scores, one_rows = scan.search(queries[place : place + 1], 30)
        assert (one_scores == scores[place]).all()
        assert (one_rows == rows[place]).all()


def test_vectors_of_any_length(unit_vectors, exact_best):
    vectors = unit_vectors(3000, 48, seed=7) * np.geomspace(1e-3, 1e3, 3000, dtype=np.float32)[:, None]
    queries = unit_vectors(20, 48, seed=8) * 50
    scores, rows = ExactScan(vectors).search(queries, 40)
    expected_scores, expected_rows = exact_best(vectors, queries, 40)
    assert rows.tolist() == expected_rows.tolist()
    assert scores == pytest.approx(expected_scores, rel=1e-5)


def test_scores_a_rounding_apart_of_vectors_whose_squares_underflow(unit_vectors):
    rng = np.random.default_rng(3)
    vectors = np.repeat(unit_vectors(1, 384, seed=4), 4000, axis=0)
    vectors *= 2.0**-90 * (1 + rng.integers(-2, 3, size=vectors.shape).astype(np.float32) * 2.0**-23)
    queries = unit_vectors(40, 384, seed=5)
    scan = ExactScan(vectors)
    everything, all_rows = scan.search(queries, 4000)
    scores, rows = scan.search(queries, 100)
    assert (rows == all_rows[:, :100]).all()
    assert (scores == everything[:, :100]).all()


def test_lesser_articles_are_not_compared_one_by_one(unit_vectors, monkeypatch):
    compared = []
    scan = ExactScan(unit_vectors(20_000, 64, seed=9))
    compare = scan._compare
    monkeypatch.setattr(scan, "_compare", lambda asked, rows: compared.append(rows.shape[1]) or compare(asked, rows))
    scan.search(unit_vectors(4, 64, seed=10), 10)
    assert sum(compared) < 40


@pytest.mark.parametrize("n_queries", [0, 1])
def test_no_article_among(n_queries):
    scores, rows = ExactScan(np.eye(3, dtype=np.float32)).search(np.ones((n_queries, 3), np.float32), 2)
    assert scores.tolist() == [[1.0, 1.0]] * n_queries
    assert rows.tolist() == [[0, 1]] * n_queries
