"""Times of rivals that take turns, so that whatever else the machine does falls on all of them."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """The median of some values, and their range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values; there must be one at least."""
        return cls(statistics.median(values), min(values), max(values))


def taking_turns(
    works: Mapping[str, Callable[[], object]], *, rounds: int, warm_up: bool = True
) -> dict[str, list[float]]:
    """Return the seconds of each work by round: A B C, A B C, ...

    Args:
        works: what to time, by name.
        rounds: how often each is timed.
        warm_up: whether each runs once before, untimed.
    """
    if warm_up:
        for work in works.values():
            work()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            seconds[name].append(_seconds(work))
    return seconds


def times_faster(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Return how many times faster `ours` is than `theirs`: the spread of each round's ratio."""
    return Spread.of([their / our for our, their in zip(ours, theirs, strict=True)])


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start
