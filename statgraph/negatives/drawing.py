"""Drawing rows from pools that have shares, without repetition."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np


def drawn_rows(pools: Sequence[np.ndarray], shares: Sequence[float], uniforms: np.ndarray) -> list[int]:
    """Return one row for each pair of `uniforms`, (count, 2) in [0, 1): its first number picks the pool by the shares,
    its second a row of that pool, each equally likely.

    No row comes twice before all have come; then all are there again. A pool that is used up leaves its share to the
    others in proportion to theirs, or to the last one with rows left if none of the others has a share.
    """
    left = [len(pool) for pool in pools]
    moved: list[dict[int, int]] = [{} for _ in pools]  # a shuffle (Fisher and Yates) that notes only what it moves
    rows = []
    for pool_uniform, row_uniform in uniforms.tolist():
        if not any(left):
            left = [len(pool) for pool in pools]
            moved = [{} for _ in pools]
        number = _picked(left, shares, pool_uniform)
        place, last = int(row_uniform * left[number]), left[number] - 1
        swaps = moved[number]
        rows.append(int(pools[number][swaps.get(place, place)]))
        swaps[place] = swaps.get(last, last)
        left[number] = last
    return rows


def _picked(left: Sequence[int], shares: Sequence[float], uniform: float) -> int:
    """Return the number of a pool that has rows left."""
    sums = list(accumulate(share if count else 0.0 for share, count in zip(shares, left, strict=True)))
    if not sums[-1]:
        return max(number for number, count in enumerate(left) if count)
    return bisect_right(sums, uniform * sums[-1])
