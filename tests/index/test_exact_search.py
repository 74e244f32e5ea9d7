import numpy as np
import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index import exact_search as module
from statgraph.index.exact_search import exact_search, inner_products


@pytest.fixture(autouse=True, params=[0, 1 << 30], ids=["by products", "by pairs"])
def routine(request, monkeypatch):
    """Select candidates by either routine, whatever the number of queries."""
    monkeypatch.setattr(module, "_FEW_QUERIES", request.param)
    monkeypatch.setattr(module, "_FEW_VALUES", 0)


@pytest.fixture(params=[(1, 1), (70, 3), (1 << 16, 128)], ids=["one row at a time", "some rows", "all rows"])
def tiles(request, monkeypatch):
    """Search tiles of a few articles and questions, so that rankings are merged from many."""
    monkeypatch.setattr(module, "TILE_ROWS", request.param[0])
    monkeypatch.setattr(module, "_TILE_QUERIES", request.param[1])


def by_hand(vectors: np.ndarray, queries: np.ndarray, k: int) -> tuple[list, list]:
    """Return the scores and rows of a full sort; the vectors hold whole numbers, whose products have no rounding."""
    scores = queries @ vectors.T
    rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(scores, rows, axis=1).tolist(), rows.tolist()


def same(found: tuple[np.ndarray, np.ndarray], expected: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether scores and rows are the same to the last bit."""
    return all(a.dtype == b.dtype and a.tobytes() == b.tobytes() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("k", [1, 2, 7, 64, 150, 299, 300])
def test_many_equal_scores_go_by_row(tiles, k, dtype):
    # Scores of 300 articles from -6 to 6: every cut goes through a tie.
    rng = np.random.default_rng(1)
    vectors, queries = (rng.integers(-1, 2, size=(n, 6)).astype(np.float32) for n in (300, 9))
    scores, rows = exact_search(vectors.astype(dtype), queries, k)
    assert (scores.tolist(), rows.tolist()) == by_hand(vectors, queries, k)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("k", [1, 5, 20])
@pytest.mark.parametrize("step", [1, 2, 15])  # many are taken out of the products of all, few are gathered
def test_equal_scores_of_allowed_rows_go_by_row(tiles, k, step, dtype):
    rng = np.random.default_rng(2)
    vectors, queries = (rng.integers(-1, 2, size=(n, 6)).astype(np.float32) for n in (300, 9))
    allowed = AllowedRows.checked(np.arange(3, 300, step), 300)
    scores, rows = exact_search(vectors.astype(dtype), queries, k, allowed)
    expected_scores, expected_rows = by_hand(vectors[allowed.rows], queries, k)
    assert (scores.tolist(), rows.tolist()) == (expected_scores, allowed.rows[expected_rows].tolist())


def test_equal_vectors_tie_wherever_they_stand(unit_vectors):
    # A matrix product adds the last rows in another order than the first; 1,003 copies of one vector score alike.
    vectors = np.repeat(unit_vectors(1, 383, seed=1), 1003, axis=0)
    for n_queries in (1, 2, 33):
        scores, rows = exact_search(vectors, unit_vectors(n_queries, 383, seed=2), 500)
        assert (rows == np.arange(500)).all()
        assert (scores == scores[:, :1]).all()


@pytest.mark.parametrize("length", [1.0, 2.0**-90])  # the squares of the shorter vectors underflow
def test_scores_a_rounding_apart_stand_in_the_order_of_their_own(unit_vectors, length):
    # Vectors that differ in the last bits: the product puts them in another order than their scores do.
    rng = np.random.default_rng(3)
    vectors = np.repeat(unit_vectors(1, 384, seed=4), 4000, axis=0)
    vectors *= length * (1 + rng.integers(-2, 3, size=vectors.shape).astype(np.float32) * 2.0**-23)
    queries = unit_vectors(40, 384, seed=5)
    scores, rows = exact_search(vectors, queries, 100)
    everything, all_rows = exact_search(vectors, queries, 4000)
    assert same((scores, rows), (everything[:, :100].copy(), all_rows[:, :100].copy()))
    assert (np.diff(everything, axis=1) <= 0).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_a_pair_scores_the_same_alone_in_a_batch_and_with_any_rows_allowed(unit_vectors, dtype, monkeypatch):
    vectors, queries = unit_vectors(5000, 100, seed=5).astype(dtype), unit_vectors(70, 100, seed=6)
    batch = exact_search(vectors, queries, 5000)
    few = exact_search(vectors, queries, 30)
    assert same(few, tuple(part[:, :30].copy() for part in batch))
    for share in (0.97, 0.1):
        allowed = AllowedRows.of_mask(np.random.default_rng(7).random(5000) < share)
        kept = allowed.mask[batch[1]]
        some = exact_search(vectors, queries, 30, allowed)
        for place in range(70):
            expected = tuple(part[place, kept[place]][None, :30] for part in batch)
            assert same(tuple(part[place : place + 1] for part in some), expected)
    monkeypatch.setattr(module, "_FEW_QUERIES", 8)
    for place in range(70):
        assert same(exact_search(vectors, queries[place : place + 1], 30), tuple(p[place : place + 1] for p in few))


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
@pytest.mark.parametrize("size", [1e-40, 1e-28, 1.0, 1e10, 1e18])
def test_vectors_of_any_length(unit_vectors, exact_best, size):
    vectors = size * (unit_vectors(3000, 48, seed=7) * np.geomspace(1e-3, 1e3, 3000)[:, None])
    vectors, queries = vectors.astype(np.float32), unit_vectors(20, 48, seed=8) * 50
    scores, rows = exact_search(vectors, queries, 40)
    expected_scores, expected_rows = exact_best(vectors, queries, 40)
    if size > 1e-40:  # below normal numbers float32 rounds differently
        assert rows.tolist() == expected_rows.tolist()
        assert scores == pytest.approx(expected_scores, rel=1e-5)
    one = [exact_search(vectors, query[None], 40) for query in queries]
    assert same((scores, rows), tuple(np.concatenate(parts) for parts in zip(*one, strict=True)))


@pytest.mark.filterwarnings("ignore:overflow encountered", "ignore:invalid value encountered")
def test_scores_that_overflow_tie():
    vectors = np.abs(np.random.default_rng(2).standard_normal((2000, 40)) * 1e18).astype(np.float32)
    scores, rows = exact_search(vectors, np.full((9, 40), 1e21, dtype=np.float32), 3)
    assert scores.tolist() == [[np.inf] * 3] * 9
    assert rows.tolist() == [[0, 1, 2]] * 9


def test_lesser_articles_are_no_candidates(unit_vectors, monkeypatch):
    compared = []
    monkeypatch.setattr(module, "inner_products", lambda *given: compared.append(given[2]) or inner_products(*given))
    exact_search(unit_vectors(20_000, 64, seed=9), unit_vectors(4, 64, seed=10), 10)
    assert compared[-1].shape[1] < 40


@pytest.mark.parametrize("n_queries", [0, 1])
def test_few_or_no_queries(n_queries):
    scores, rows = exact_search(np.eye(3, dtype=np.float32), np.ones((n_queries, 3), np.float32), 2)
    assert scores.tolist() == [[1.0, 1.0]] * n_queries
    assert rows.tolist() == [[0, 1]] * n_queries


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("widened", [1, 1 << 24])
def test_products_with_some_rows(monkeypatch, dtype, widened):
    monkeypatch.setattr(module, "_WIDENED_VALUES", widened)
    vectors = np.array([[1, 2, 3], [4, 5, 6]], dtype=dtype)
    queries = np.array([[1, 0, 2], [0, 0, 0], [0, 1, 0]], dtype=np.float32)[::2]
    rows = np.array([[1, 9, 0, 1], [0, 9, -1, 1]])[:, [0, 2, 3]]
    assert inner_products(vectors, queries, rows).tolist() == [[16, 7, 16], [2, -np.inf, 5]]
    assert inner_products(vectors, queries, rows[:, :0]).shape == (2, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_vectors_on_disk(tmp_path, tiles, dtype, unit_vectors):
    vectors, queries = unit_vectors(200, 8, seed=11).astype(dtype), unit_vectors(3, 8, seed=12)
    np.save(tmp_path / "v.npy", vectors, allow_pickle=False)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r", allow_pickle=False)
    assert same(exact_search(mapped, queries, 9), exact_search(vectors, queries, 9))
    allowed = AllowedRows.checked(np.arange(1, 200, 7), 200)
    assert same(exact_search(mapped, queries, 9, allowed), exact_search(vectors, queries, 9, allowed))
