"""A plot before it is written: a matplotlib figure, its words, its numbers, and the texts of its parts."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from statgraph.evaluation.plots import COLOURS, FAINT_INK, INK, PAPER, new_panels

# Without black and yellow, which a dark or a light page swallows.
HUES = tuple(colour for colour in COLOURS if colour not in ("#000000", "#F0E442"))
REST = "#9a9aa0"
_LABEL_CHARACTERS = 46

Outline = Sequence[tuple[str, "Outline"]]


@dataclass(frozen=True)
class Drawing:
    """A plot with its words and numbers.

    Attributes:
        name: the stem of its files.
        title: of the plot.
        description: how to read it, for those who see it and those who do not.
        figure: the matplotlib figure, without a title.
        columns: the head of the table of its numbers.
        rows: the table's rows, as long as `columns`.
        hovers: id of a part of the figure -> the text shown when pointing at it; one for each of a set of points.
        outline: a list that unfolds level by level, each item with the items under it; empty for none.
    """

    name: str
    title: str
    description: str
    figure: object
    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    hovers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outline: Outline = ()


class Hovers(dict):
    """The texts of the parts of a figure by their ids, as `Drawing.hovers` has them."""

    def put(self, part: str, artist, *texts: str) -> None:
        """Give a part of the figure its id, and one text, or one for each of its points."""
        artist.set_gid(part)
        self[part] = texts


def bars_figure(labels: Sequence[str], series: Mapping[str, Sequence[int]], *, x_name: str) -> tuple[object, Hovers]:
    """Return (figure, hovers) of bars from top to bottom, each with its total, the series stacked in it.

    Args:
        labels: one for each bar.
        series: name -> one count for each label; a single one needs no key.
        x_name: of what is counted.
    """
    names = [textwrap.fill(label, _LABEL_CHARACTERS, max_lines=2, placeholder="…") for label in labels]
    figure, (axes,) = new_panels(7.2, 1.1 + (0.4 if any("\n" in name for name in names) else 0.3) * len(labels))
    hovers, totals = Hovers(), [0] * len(labels)
    for number, (name, counts) in enumerate(series.items()):
        for place, count in enumerate(counts):
            (bar,) = axes.barh(place, count, 0.78, left=totals[place], color=HUES[number], edgecolor=PAPER, zorder=2)
            kind = f", {name}" if len(series) > 1 else ""
            hovers.put(f"bar-{number}-{place}", bar, f"{labels[place]}{kind}: {count:,}")
            totals[place] += count
        axes.barh(0, 0, color=HUES[number], label=name)
    for place, total in enumerate(totals):
        style = {"textcoords": "offset points", "va": "center", "color": INK, "fontsize": 8}
        axes.annotate(f"{total:,}", (total, place), (4, 0), **style)
    axes.set_yticks(range(len(labels)), names)
    axes.invert_yaxis()
    axes.set_xlabel(x_name)
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x", color=FAINT_INK, alpha=0.3, linewidth=0.7, zorder=0)
    axes.margins(x=0.12)
    if len(series) > 1:
        key_below(figure, axes)
    return figure, hovers


def key_below(figure, axes) -> None:
    """Put the key of some axes below the figure, where it hides nothing."""
    handles, names = axes.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=3, frameon=False, labelcolor=INK, fontsize=8.5)


def shortened(text: str, length: int) -> str:
    """Return the text, or its beginning and an ellipsis where it has more characters than `length`."""
    return text if len(text) <= length else f"{text[: max(1, length - 1)].rstrip()}…"
