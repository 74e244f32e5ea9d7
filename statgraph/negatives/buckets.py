"""Cutting a ranking into buckets of equal size, from easy to difficult (CuSINeS, section 3)."""

from __future__ import annotations

import numpy as np


def bucket_numbers(scores: np.ndarray, buckets: int) -> np.ndarray:
    """Return the bucket of each of the (n,) scores, int8: 0 holds the lowest (easy), `buckets` - 1 the highest.

    Bucket sizes differ by one at most. The most difficult bucket is never empty: with fewer scores than buckets, it is
    the easy ones that are. Of equal scores at a cut, those that stand first count as easier.
    """
    bounds = (np.arange(1, buckets) * len(scores) // buckets).tolist()
    numbers = np.zeros(len(scores), dtype=np.int8)
    # Only which bucket matters, not the order in it: a partition costs a fraction of a sort.
    for bound, cut in zip(bounds, np.partition(scores, bounds)[bounds] if bounds else (), strict=True):
        above = scores >= cut
        ties = np.flatnonzero(scores == cut)
        above[ties[: bound - np.count_nonzero(scores < cut)]] = False
        numbers += above
    return numbers
