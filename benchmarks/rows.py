"""A row of the performance table, and the times of rivals that take turns behind it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: what is measured, on how much.
        against: the rival; empty where a figure is asked for outright.
        asked: the figure to reach; empty where none was.
        reached: the figure as measured, or "not measured".
        holds: whether it reaches what was asked; None where nothing was asked or measured.
        figures: the numbers behind it (seconds, bytes, counts), JSON values.
        note: what to know about it: what was tried, why it stops there.
    """

    what: str
    against: str
    asked: str
    reached: str
    holds: bool | None
    figures: dict = field(default_factory=dict)
    note: str = ""


def not_measured(what: str, *, against: str, asked: str, why: str) -> Row:
    """Return the row of what cannot be measured here."""
    return Row(what, against, asked, "not measured", None, {}, why)


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
    """Return the seconds of each work by round: A B C, A B C, ... Whatever else the machine does falls on all of them.

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
            start = time.perf_counter()
            work()
            seconds[name].append(time.perf_counter() - start)
    return seconds


def times_faster(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Return how many times faster `ours` is than `theirs`: the spread of each round's ratio."""
    return Spread.of([their / our for our, their in zip(ours, theirs, strict=True)])


def ratio_text(ratio: Spread) -> str:
    """Return "12.3 times [11.0 to 13.1]"."""
    digits = 1 if ratio.median < 100 else 0
    return f"{ratio.median:,.{digits}f} times [{ratio.low:,.{digits}f} to {ratio.high:,.{digits}f}]"


def seconds_text(seconds: Spread) -> str:
    """Return "1.23 s [1.20 to 1.31]", in ms below a tenth of a second."""
    factor, unit = (1000, "ms") if seconds.median < 0.1 else (1, "s")
    middle, low, high = (f"{factor * value:.3g}" for value in (seconds.median, seconds.low, seconds.high))
    return f"{middle} {unit} [{low} to {high}]"
