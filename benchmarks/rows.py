"""A row of the performance table: what was asked, what was reached, and the figures behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

from benchmarks.side_by_side import Spread


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

    def to_dict(self) -> dict:
        """Return the row as JSON values."""
        return asdict(self)


def not_measured(what: str, *, against: str, asked: str, why: str) -> Row:
    """Return the row of what cannot be measured here."""
    return Row(what, against, asked, "not measured", None, {}, why)


def ratio_text(ratio: Spread) -> str:
    """Return "12.3 times [11.0 to 13.1]"."""
    digits = 1 if ratio.median < 100 else 0
    return f"{ratio.median:,.{digits}f} times [{ratio.low:,.{digits}f} to {ratio.high:,.{digits}f}]"


def seconds_text(seconds: Spread) -> str:
    """Return "1.23 s [1.20 to 1.31]", in ms below a tenth of a second."""
    factor, unit = (1000, "ms") if seconds.median < 0.1 else (1, "s")
    middle, low, high = (f"{factor * value:.3g}" for value in (seconds.median, seconds.low, seconds.high))
    return f"{middle} {unit} [{low} to {high}]"
