"""Figures as PNG files: heat maps and bars, drawn without a display."""

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

DOTS_PER_INCH = 150
# Okabe and Ito's colours, which colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
_MOST_CELLS_WITH_TEXT = 400
_LEGEND_COLUMNS = 4
HEAT = "viridis"
# `statgraph.contrib.plots.drawing` replaces these by the colours of its page.
INK, FAINT_INK, PAPER = "#1b1b1f", "#8e8e93", "#ffffff"


def heat_map(
    values: np.ndarray, x_labels: Sequence[object], y_labels: Sequence[object], path: Path, **names: str
) -> None:
    """Write a heat map with the number in each cell where there is room.

    Args:
        values: (y_labels, x_labels); the first row is drawn at the bottom.
        names: the figure's title, and those of its axes: xlabel, ylabel.
    """
    width, height = 2.2 + 0.5 * len(x_labels), 1.6 + 0.36 * len(y_labels)
    figure, (axes,) = new_panels(max(4.5, width), max(3.0, height))
    image = axes.imshow(values, cmap=HEAT, origin="lower", aspect="auto")
    axes.set_xticks(range(len(x_labels)), [_label(label) for label in x_labels])
    axes.set_yticks(range(len(y_labels)), [_label(label) for label in y_labels])
    axes.set(**names)
    if values.size <= _MOST_CELLS_WITH_TEXT:
        middle = (np.nanmin(values) + np.nanmax(values)) / 2
        for (row, column), value in np.ndenumerate(values):
            colour = "black" if value > middle else "white"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour, fontsize=7)
    figure.colorbar(image, ax=axes)
    save_png(figure, path)


def bar_chart(
    groups: Sequence[str],
    series: Mapping[str, Sequence[float]],
    errors: Mapping[str, Sequence[float]],
    path: Path,
    **names: str,
) -> None:
    """Write groups of bars, one bar a series in each group.

    Args:
        series: name -> one value for each group.
        errors: name -> half the length of each value's whiskers.
        names: as of a heat map.
    """
    figure, (axes,) = new_panels(max(5.0, 1.8 + 0.3 * len(groups) * (len(series) + 1)), 4.0)
    bar_width = 0.8 / max(1, len(series))
    centres = np.arange(len(groups))
    for number, (name, values) in enumerate(series.items()):
        places = centres + (number - (len(series) - 1) / 2) * bar_width
        axes.bar(places, values, bar_width, label=name, color=COLOURS[number % len(COLOURS)], zorder=2)
        axes.errorbar(places, values, errors[name], fmt="none", ecolor="#333333", elinewidth=1, capsize=2.5, zorder=3)
    crowded = sum(map(len, groups)) > 12 * figure.get_figwidth()
    axes.set_xticks(centres, groups, rotation=30 if crowded else 0, ha="right" if crowded else "center")
    axes.set(**names)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8, zorder=0)
    axes.set_axisbelow(True)
    if len(series) > 1:  # outside the axes, where it hides no value
        figure.legend(loc="outside lower center", ncols=min(len(series), _LEGEND_COLUMNS), frameon=False)
    save_png(figure, path)


def new_panels(width: float, height: float, n_panels: int = 1) -> tuple[Figure, list[Axes]]:
    """Return (figure of a size in inches, list of axes side by side), outside pyplot's list of open figures."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained", facecolor=PAPER)
    panels = [figure.add_subplot(1, n_panels, number + 1, facecolor="none") for number in range(n_panels)]
    for axes in panels:
        axes.tick_params(colors=INK, labelcolor=INK, labelsize=9)
        for spine in axes.spines.values():
            spine.set_color(FAINT_INK)
        axes.spines[["top", "right"]].set_visible(False)
        axes.xaxis.label.set_color(INK)
        axes.yaxis.label.set_color(INK)
    return figure, panels


def save_png(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG file, the same file for the same figure."""
    with artifacts.replaced_file(path) as staging:
        figure.savefig(
            staging,
            format="png",
            dpi=DOTS_PER_INCH,
            facecolor=PAPER,
            bbox_inches="tight",
            metadata={"Software": None},
        )


def _label(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
