"""Reciprocal rank fusion (Cormack, Clarke and Buettcher 2009; CuSINeS, section 3)."""

from __future__ import annotations

import numpy as np


def competition_ranks(distances: np.ndarray) -> np.ndarray:
    """Return the rank of each of the (n,) distances, int64: 1 for the smallest; equal ones share the best rank, and the
    next one's rank is 1 more than the number of those before it."""
    if distances.dtype.kind == "i" and len(distances):
        lowest, highest = int(distances.min()), int(distances.max())
        if highest - lowest < len(distances):  # path lengths: to count them costs a fraction of a sort
            steps = distances.astype(np.int64) - lowest
            counts = np.bincount(steps)  # by distance
            return (np.cumsum(counts) - counts + 1)[steps]
    order = np.argsort(distances)
    ordered = distances[order]
    first = np.zeros(len(order), dtype=np.int64)  # place of the first that equals it
    first[1:] = np.where(ordered[1:] != ordered[:-1], np.arange(1, len(order)), 0)
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = np.maximum.accumulate(first) + 1
    return ranks


def reciprocal_ranks(distances: np.ndarray, rrf_k: int) -> np.ndarray:
    """Return 1 / (rrf_k + rank) for each of the (n,) distances, float32; rank 1 is the smallest, ties share it.

    The fused score of several rankings is the sum over them: the more difficult, the greater.
    """
    return (1.0 / (rrf_k + competition_ranks(distances))).astype(np.float32)
