import numpy as np
import pytest

from statgraph.index.rankings import best_by_row, ties_by_row


@pytest.mark.parametrize(("depth", "kept"), [(None, 8), (8, 8), (5, 5), (1, 1)])
def test_every_kind_of_score_has_its_place(depth, kept):
    scores = np.array([[-np.inf, -1.5, np.nan, -0.0, 2e-45, -2.0, 0.0, np.inf]], dtype=np.float32)
    scores, rows = ties_by_row(scores, np.array([[4, 0, 1, 5, 7, 6, 9, 2]]), depth)
    assert rows.tolist() == [[2, 7, 5, 9, 0, 6, 4, 1][:kept]]
    expected = np.array([[np.inf, 2e-45, 0, 0, -1.5, -2, -np.inf, np.nan]], dtype=np.float32)
    assert np.array_equal(scores, expected[:, :kept], equal_nan=True)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_what_is_no_number_comes_last_with_either_sign():
    scores = np.array([[np.nan, 1, -np.nan, 3]], dtype=np.float32)
    assert ties_by_row(scores, np.arange(4)[None])[1].tolist() == [[3, 1, 0, 2]]


def test_large_rows_and_those_that_were_not_found():
    scores = np.array([[-np.inf, 1, 1, -np.inf]], dtype=np.float32)
    assert ties_by_row(scores, np.array([[-1, 2**31 - 1, 0, 5]]))[1].tolist() == [[0, 2**31 - 1, 5, -1]]


def test_the_order_is_that_of_scores_and_rows():
    rng = np.random.default_rng(0)
    scores = np.round(rng.standard_normal((3, 500)), 1).astype(np.float32)
    rows = rng.permuted(np.tile(np.arange(500), (3, 1)), axis=1)
    found, ranked = ties_by_row(scores, rows, 200)
    order = np.lexsort((rows, -scores), axis=1)[:, :200]
    assert (ranked == np.take_along_axis(rows, order, axis=1)).all()
    assert (found == np.take_along_axis(scores, order, axis=1)).all()


def test_ties_across_the_cut_are_searched_deeper():
    # The search returns, of the rows that score 1, the last first; the second query ties with none.
    scores = np.array([[1, 1, 1, 1, 2, 0], [1, 2, 3, 4, 5, 6]], dtype=np.float32)
    depths = []

    def search(queries, depth):
        depths.append((len(queries), depth))
        rows = np.array([sorted(range(6), key=lambda row: (-scores[query][row], -row))[:depth] for query in queries])
        return np.take_along_axis(scores[queries], rows, axis=1), rows

    found, rows = best_by_row(search, np.array([0, 1]), 6, 2)
    assert (found.tolist(), rows.tolist()) == ([[2, 1], [6, 5]], [[4, 0], [5, 4]])
    assert depths == [(2, 3), (1, 6)]
