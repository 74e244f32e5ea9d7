import numpy as np

from statgraph.index.rankings import short_rankings, ties_by_row


def test_equal_scores_go_by_row():
    scores, rows = ties_by_row(np.array([[1.0, 3.0, 1.0]]), np.array([[9, 5, 2]]))
    assert (scores.tolist(), rows.tolist()) == ([[3.0, 1.0, 1.0]], [[5, 2, 9]])


def test_rankings_with_empty_places_are_short():
    rows = np.array([[1, 2, 3], [4, -1, -1], [5, 6, -1]])
    assert short_rankings(rows, 3).tolist() == [1, 2]
    assert short_rankings(rows, 2).tolist() == [1]
    assert short_rankings(rows, 1).tolist() == []
