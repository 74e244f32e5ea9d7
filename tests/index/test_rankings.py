import numpy as np

from statgraph.index.rankings import best_by_row, short_rankings, ties_by_row


def test_equal_scores_go_by_row():
    scores, rows = ties_by_row(np.array([[1.0, 3.0, 1.0]]), np.array([[9, 5, 2]]))
    assert (scores.tolist(), rows.tolist()) == ([[3.0, 1.0, 1.0]], [[5, 2, 9]])


def test_rankings_with_empty_places_are_short():
    rows = np.array([[1, 2, 3], [4, -1, -1], [5, 6, -1]])
    assert short_rankings(rows, 3).tolist() == [1, 2]
    assert short_rankings(rows, 2).tolist() == [1]
    assert short_rankings(rows, 1).tolist() == []


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
