"""Counts in intervals that double: 0, 1, 2-3, 4-7, and so on."""

from __future__ import annotations

import numpy as np


def doubling_counts(values: np.ndarray) -> tuple[list[str], list[int]]:
    """Return (names of the intervals, how many values are in each), from the least value's to the greatest's.

    Args:
        values: (values,) whole numbers from 0 on.
    """
    if not len(values):
        return [], []
    places = np.array([int(value).bit_length() for value in values])
    counts = np.bincount(places)
    first = int(places.min())
    return [_name(place) for place in range(first, len(counts))], [int(count) for count in counts[first:]]


def _name(place: int) -> str:
    """Return "0", "1", "2–3", "4–7": the numbers of so many binary digits."""
    if place < 2:
        return str(place)
    return f"{1 << (place - 1):,}–{(1 << place) - 1:,}"
