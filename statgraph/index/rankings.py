"""Rankings in a fixed order, and the places of a ranking that an approximate search left empty."""

from __future__ import annotations

import numpy as np

NOT_FOUND = -1  # FAISS's row where a search found fewer articles than it was asked for


def ties_by_row(scores: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, rows), each (queries, depth), best first, equal scores by row."""
    order = np.lexsort((rows, -scores), axis=1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)


def short_rankings(rows: np.ndarray, k: int) -> np.ndarray:
    """Return the numbers of the queries, (short,) int64, of which `rows` (queries, depth) holds fewer than `k`."""
    return np.flatnonzero((rows != NOT_FOUND).sum(axis=1) < k)
