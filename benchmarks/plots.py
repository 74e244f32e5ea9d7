"""Plots as SVG, legible on a light and on a dark page: bars by group, and the index by its size."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

_STYLE = "text{font:12px sans-serif;fill:#7a7a7a}.group{font-weight:bold}.grid{stroke:#7a7a7a;opacity:.25}"
_STYLE += ".ours{stroke:#4f6bd8;fill:#4f6bd8}.theirs{stroke:#9a9a9a;fill:#9a9a9a}path{stroke-width:2}"
_STYLE += "path.ours,path.theirs{fill:none}.interval,.axis{stroke:#7a7a7a}.open{stroke:#9a9a9a;fill:none}"
_ALONE = re.compile(r"index of ([\d,]+) articles, .*ivf-pq.*, one question at a time")
_STEP, _VALUE = 18, 52  # of bars: a line, a value beside its bar
_ONE, _ALL = (168, 312), (200, 520)  # the labels and the only column, fit for a telephone; and all of several columns


@dataclass(frozen=True)
class Bar:
    """A line of a plot: its label, a value for each column, whether it is of statgraph, and the ends of the interval of
    each value, where they are known."""

    label: str
    values: Sequence[float]
    is_ours: bool = True
    intervals: Sequence[tuple[float, float]] = ()


def bars(columns: Mapping[str, str], groups: Mapping[str, Sequence[Bar]]) -> str:
    """Return bars under the heading of each group, in columns of a scale each, with the values beside them.

    Args:
        columns: how a value is written, such as "{:.1f}", by the title of its column.
        groups: the lines by their heading.
    """
    left, widths = _ONE if len(columns) == 1 else _ALL
    width = widths / len(columns)
    lines = [line for group in groups.values() for line in group]
    highest = [
        max(end for line in lines for end in (line.values[column], *(line.intervals[column] if line.intervals else ())))
        for column in range(len(columns))
    ]
    starts = [round(left + width * column, 1) for column in range(len(columns))]
    parts = [f'<text x="{x}" y="14">{escape(title)}</text>' for x, title in zip(starts, columns, strict=True)]
    y = 14
    for heading, group in groups.items():
        y += _STEP + 6
        parts.append(f'<text class="group" x="0" y="{y}">{escape(heading)}</text>')
        for line in group:
            y += _STEP
            parts.append(f'<text x="{left - 8}" y="{y}" text-anchor="end">{escape(line.label)}</text>')
            kind = "ours" if line.is_ours else "theirs"
            of_columns = zip(starts, line.values, highest, columns.values(), strict=True)
            for column, (x, value, most, written) in enumerate(of_columns):
                long = round((width - _VALUE) * value / most, 1)
                parts.append(f'<rect class="{kind}" x="{x}" y="{y - 9}" width="{long}" height="9"/>')
                end = x + long
                if line.intervals:
                    low, end = (round(x + (width - _VALUE) * each / most, 1) for each in line.intervals[column])
                    parts.append(f'<path class="interval" d="M{low} {y - 4.5}H{end}"/>')
                parts.append(f'<text x="{round(end + 5, 1)}" y="{y}">{written.format(value)}</text>')
    return svg(left + widths, y + 10, parts)


def index_plot(rows: Iterable[Mapping]) -> str:
    """Return the time of a question over the number of articles, by `ivf-pq` and by exact search."""
    points: dict[str, list[tuple[float, float]]] = {"ours": [], "theirs": []}
    for row, match in ((row, _ALONE.fullmatch(row["what"])) for row in rows):
        if match:
            n_articles = int(match[1].replace(",", ""))
            for line, name in (("ours", "ours"), ("theirs", "faiss")):
                points[line].append((n_articles, 1000 * statistics.median(row["figures"][name])))

    def place(n_articles: float, milliseconds: float) -> tuple[float, float]:
        return round(70 + 105 * (math.log10(n_articles) - 4), 1), round(240 - 50 * math.log10(milliseconds), 1)

    parts = []
    for exponent in range(-1, 5):
        _, y = place(1e4, 10**exponent)
        label = f'<text x="62" y="{y + 4}" text-anchor="end">{10**exponent:g} ms</text>'
        parts.append(f'<path class="grid" d="M70 {y}H385"/>{label}')
    for exponent in range(4, 8):
        x, _ = place(10**exponent, 1)
        parts.append(f'<text x="{x}" y="310" text-anchor="middle">{10**exponent:,}</text>')
    for line, label in (("ours", "ivf-pq"), ("theirs", "exact search")):
        places = [place(*point) for point in sorted(points[line])]
        parts.append(f'<path class="{line}" d="M{" L".join(f"{x} {y}" for x, y in places)}"/>')
        parts += [f'<circle class="{line}" cx="{x}" cy="{y}" r="4"/>' for x, y in places]
        parts += [f'<text x="{x + 8}" y="{y + 4}">{label}</text>' for x, y in places[-1:]]
    return svg(480, 330, parts)


def svg(width: float, height: float, parts: Iterable[str]) -> str:
    """Return a whole plot from its elements, whose classes are those of `_STYLE`."""
    size = f'width="{width}" viewBox="0 0 {width} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{_STYLE}</style>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"
