"""The style of all plots, and the kinds of figure that several of them use; nothing needs a display."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

require("plots")

# Okabe and Ito's colours, which colour-blind readers can distinguish, without black and yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
GREY = "#9a9aa0"
_DOTS_PER_INCH = 150
_POINTS = 9  # size of ticks' and keys' text
_CHARACTERS = 13  # of that size in an inch


def new_figure(width: float, height: float, n_panels: int = 1, *, grid: str = "") -> tuple[Figure, list[Axes]]:
    """Return (figure of a size in inches, axes side by side with one y scale); `grid`: lines across x or y."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    panels = list(figure.subplots(1, n_panels, sharey=True, squeeze=False)[0])
    for axes in panels:
        axes.tick_params(labelsize=_POINTS)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_axisbelow(True)
        if grid:
            axes.grid(axis=grid, color="#dddddd")
    return figure, panels


def key_below(figure: Figure, axes: Axes) -> None:
    """Put the key of some axes below the figure, where it hides nothing, in as many columns as fit."""
    handles, names = axes.get_legend_handles_labels()
    columns = int(_CHARACTERS * figure.get_figwidth()) // (max(map(len, names)) + 8)
    figure.legend(handles, names, loc="outside lower center", ncols=max(1, columns), frameon=False, fontsize=_POINTS)


def heat_map(values: np.ndarray, x_labels: Sequence[str] = (), y_labels: Sequence[str] = (), **names: str) -> Figure:
    """Return a heat map, with the number in each cell if the cells have labels.

    Args:
        values: (y_labels, x_labels); the first row is drawn at the bottom.
        names: the title, and those of the axes: xlabel, ylabel.
    """
    width, height = 2.2 + 0.5 * len(x_labels), 1.6 + 0.36 * len(y_labels)
    figure, (axes,) = new_figure(max(5.6, width), max(4.8, height))
    image = axes.imshow(values, origin="lower", aspect="auto", interpolation="nearest")
    axes.set(**names)
    if len(x_labels):
        axes.set_xticks(range(len(x_labels)), x_labels)
        axes.set_yticks(range(len(y_labels)), y_labels)
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for (row, column), value in np.ndenumerate(values):
            colour = "black" if value > middle else "white"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=7)
    figure.colorbar(image, ax=axes)
    return figure


def bar_chart(
    groups: Sequence[str], series: Mapping[str, Sequence[float]], errors: Mapping[str, Sequence[float]], **names: str
) -> Figure:
    """Return groups of bars, one bar a series in each group.

    Args:
        series: name -> one value for each group.
        errors: name -> half the length of each value's whiskers.
        names: as of a heat map.
    """
    figure, (axes,) = new_figure(max(5.0, 1.8 + 0.3 * len(groups) * (len(series) + 1)), 4.0, grid="y")
    bar_width = 0.8 / len(series)
    centres = np.arange(len(groups))
    for number, (name, values) in enumerate(series.items()):
        places = centres + (number - (len(series) - 1) / 2) * bar_width
        colour = COLOURS[number % len(COLOURS)]
        axes.bar(places, values, bar_width, yerr=errors[name], label=name, color=colour, ecolor="#333333", capsize=2.5)
    crowded = sum(map(len, groups)) > _CHARACTERS * figure.get_figwidth()
    axes.set_xticks(centres, groups, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.set(**names)
    if len(series) > 1:
        key_below(figure, axes)
    return figure


def save_png(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG file, the same file for the same figure."""
    with artifacts.replaced_file(path) as staging:
        figure.savefig(staging, format="png", dpi=_DOTS_PER_INCH, bbox_inches="tight", metadata={"Software": None})
