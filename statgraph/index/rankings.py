"""Rankings in a fixed order, and the places of a ranking that an approximate search left empty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NOT_FOUND = -1  # FAISS's row where a search found fewer articles than it was asked for


def ties_by_row(scores: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, rows), each (queries, depth), best first, equal scores by row."""
    ranked = (np.arange(len(rows))[:, None], np.lexsort((rows, -scores), axis=1))
    return scores[ranked], rows[ranked]


def best_by_row(
    search: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]], queries: np.ndarray, n_rows: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, rows), each (queries, k), best first, ties by row, of an exact search that leaves ties open.

    Args:
        search: of some of the queries to a depth: (scores float32, rows int64), each (queries, depth), best first.
        queries: (queries, width).
        n_rows: how many rows there are to find.
        k: at most `n_rows`.
    """
    # One place more than asked for shows whether a tie goes on past the cut. If so, which of the tied rows the search
    # returned is chance: search deeper for those queries.
    depth = min(k + 1, n_rows)
    scores, rows = ties_by_row(*search(queries, depth))  # (queries, depth)
    best_scores, best_rows = scores[:, :k].copy(), rows[:, :k].copy()
    tied = np.arange(len(queries))
    while depth > k and len(tied := tied[scores[:, k - 1] == scores[:, -1]]):
        if depth == n_rows:
            break
        depth = min(2 * depth, n_rows)
        scores, rows = ties_by_row(*search(queries[tied], depth))
        best_scores[tied], best_rows[tied] = scores[:, :k], rows[:, :k]
    return best_scores, best_rows


def short_rankings(rows: np.ndarray, k: int) -> np.ndarray:
    """Return the numbers of the queries, (short,) int64, of which `rows` (queries, depth) holds fewer than `k`."""
    return np.flatnonzero((rows != NOT_FOUND).sum(axis=1) < k)
