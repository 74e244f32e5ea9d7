import faiss
import numpy as np
import pytest

from statgraph.index.vector_codes import VectorCodes


def others_best(vectors: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the greatest inner product, float64, of each query with an article that is not in its rows."""
    scores = queries.astype(np.float64) @ vectors.T.astype(np.float64)
    np.put_along_axis(scores, rows, -np.inf, axis=1)
    return scores.max(axis=1)


def test_two_articles_by_hand():
    # The first dimension from -1 to 1 has steps of 1/127, the second is 5 throughout: codes (-127, 0) and (127, 0).
    codes = VectorCodes(np.array([[-1, 5], [1, 5]], dtype=np.float32))
    rows, ceilings = codes.best(np.array([[2, 3], [-2, 3], [0, 3]], dtype=np.float32), 1)
    assert rows[:2].tolist() == [[1], [0]]
    assert ceilings == pytest.approx([17, 17, 15], abs=1e-4)


def test_what_is_left_over_of_a_vector_is_in_the_ceiling():
    # One dimension from -127 to 127, so that steps are 1. The codes of 10.0 and 10.5 are 10: where the one is found,
    # the other scores half a step more.
    vectors = np.array([[-127], [127], [10.0], [10.5]], dtype=np.float32)
    rows, ceilings = VectorCodes(vectors).best(np.array([[3]], dtype=np.float32), 2)
    assert rows[0, 0] == 1
    assert ceilings == pytest.approx([3 * 10.5], abs=1e-3)
    assert others_best(vectors, np.array([[3]]), np.array([[1, 2]])) == 3 * 10.5


def test_what_rounding_a_query_loses_is_in_the_ceiling():
    # The query's code is (127, 0). All articles on the second axis have the same code score, 0, and up to 127 * 0.499.
    heights = np.arange(-127, 128)
    vectors = np.concatenate([[[127, 0], [-127, 0]], np.stack([0 * heights, heights], axis=1)]).astype(np.float32)
    queries = np.array([[127, 0.499]], dtype=np.float32)
    rows, ceilings = VectorCodes(vectors).best(queries, 2)
    assert rows[0, 0] == 0
    assert ceilings == pytest.approx([127 * 0.499], abs=0.02)
    assert others_best(vectors, queries, np.array([[0, 2]])) == pytest.approx(127 * 0.499)
    assert (others_best(vectors, queries, rows) <= ceilings).all()


def test_the_codes_are_compared_with_their_mean():
    # As above, 6 of 9 at a height of 127, one at -127: the mean is 5 / 9 of 127, and the last is 14 / 9 of 127 from it.
    vectors = np.array([[127, 0], [-127, 0], [0, -127]] + 6 * [[0, 127]], dtype=np.float32)
    _, ceilings = VectorCodes(vectors).best(np.array([[127, 0.499]], dtype=np.float32), 2)
    assert ceilings == pytest.approx([0.499 * 127 * (5 + 14) / 9], abs=0.02)


def test_what_float32_rounds_is_in_the_ceiling():
    # Above 2^24 it holds even numbers only: 127 * (1088 * 127 - 1) = 17,548,225 becomes 17,548,224.
    best, lesser = np.full(1088, 127), np.full(1088, -127)
    best[5], lesser[5] = 126, 127
    vectors = np.stack([best, best, lesser, 0 * best - 127]).astype(np.float32)
    queries = np.full((1, 1088), 127, dtype=np.float32)
    rows, ceilings = VectorCodes(vectors).best(queries, 1)
    assert rows[0, 0] in (0, 1)
    assert 17_548_225 <= ceilings[0] < 1.001 * 17_548_225


@pytest.mark.parametrize("n", [1, 10, 200])
@pytest.mark.parametrize("scale", [1e-35, 1, 1e15])
@pytest.mark.parametrize("width", [1, 2, 5, 64, 100])
def test_no_other_article_is_above_the_ceiling(unit_vectors, width, scale, n):
    rng = np.random.default_rng(width)
    vectors = unit_vectors(1500, width, seed=1) * rng.uniform(0.1, 2, size=(1500, 1))
    vectors = ((vectors + rng.standard_normal(width)) * rng.uniform(0.01, 1, size=width)).astype(np.float32)
    vectors = (vectors * np.float32(scale)).astype(np.float32)
    queries = unit_vectors(50, width, seed=2) * rng.uniform(1e-3, 1e3, size=(50, 1)).astype(np.float32)
    rows, ceilings = VectorCodes(vectors).best(queries, n)
    assert rows.shape == (50, n)
    best = others_best(vectors, queries, rows)
    assert (best <= ceilings + 1e-12 * np.abs(ceilings)).all()
    # Nor is the ceiling so high that it says nothing.
    spread = np.linalg.norm(queries, axis=1) * np.linalg.norm(np.ptp(vectors.astype(np.float64), axis=0))
    assert (ceilings - best <= 0.05 * spread).all()


@pytest.mark.parametrize("width", [1, 7, 16, 33, 64, 384, 1000])
def test_faiss_adds_whole_numbers_up_as_they_are(width):
    # Some of its routines round a query to whole numbers, which is why ours are.
    rng = np.random.default_rng(3)
    stored = rng.integers(1, 256, size=(500, width)).astype(np.uint8)
    queries = rng.integers(-127, 128, size=(3, width))
    stored[0], queries[0] = 255, 127
    stored[1], queries[1] = 1, -127
    index = faiss.IndexScalarQuantizer(width, faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT)
    index.add_sa_codes(stored)
    sums, rows = index.search(queries.astype(np.float32), 500)
    exact = queries @ (stored.astype(np.int64) - 128).T
    assert (sums == np.take_along_axis(exact, rows, axis=1)).all()
    assert (np.diff(sums, axis=1) <= 0).all()


def test_it_takes_a_quarter_of_the_memory(unit_vectors):
    vectors = unit_vectors(300, 40, seed=4)
    assert 4 * VectorCodes(vectors)._index.codes.size() == vectors.nbytes
