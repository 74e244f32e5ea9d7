"""Bars that show their number: upright for distributions, horizontal for things with long names."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from statgraph.evaluation.plots import FAINT_INK, INK, PAPER, new_figure
from statgraph.plotting.drawing import HUES, Hovers

_LABEL_CHARACTERS = 46
_MOST_CHARACTERS = 70  # of upright labels
_LEAST_PLACES = 6  # a single bar would fill the picture


def upright_bars(
    labels: Sequence[str], series: Mapping[str, Sequence[int]], *, x_name: str, y_name: str
) -> tuple[object, dict[str, tuple[str, ...]]]:
    """Return (figure, hovers) of bars with their total above them, the series stacked in each.

    Args:
        labels: one a bar.
        series: name -> one count for each label; a single one needs no key.
    """
    figure, axes = new_figure(7.2, 3.8)
    return figure, pile(axes, labels, series, x_name=x_name, y_name=y_name)


def pile(
    axes, labels: Sequence[str], series: Mapping[str, Sequence[int]], *, x_name: str, y_name: str, prefix: str = "bar"
) -> dict[str, tuple[str, ...]]:
    """Draw bars on axes as `upright_bars` does, and return the hovers; the ids of the parts begin with `prefix`."""
    hovers, style = Hovers(), {"edgecolor": PAPER, "linewidth": 0.5, "zorder": 2}
    heights = [0] * len(labels)
    for number, (name, counts) in enumerate(series.items()):
        label, colour = name if len(series) > 1 else None, HUES[number % len(HUES)]
        for place, count in enumerate(counts):
            if not count:
                continue
            (bar,) = axes.bar(place, count, 0.82, bottom=heights[place], color=colour, **style)
            said = f"{x_name} {labels[place]}{f', {name}' if label else ''}: {count:,}"
            hovers.put(f"{prefix}-{number}-{place}", bar, said)
            heights[place] += count
        if label:
            axes.bar(0, 0, color=colour, label=label)
    for place, height in enumerate(heights):
        axes.annotate(
            f"{height:,}", (place, height), (0, 2), textcoords="offset points", ha="center", color=INK, fontsize=8
        )
    crowded = sum(map(len, labels)) > _MOST_CHARACTERS
    axes.set_xticks(range(len(labels)), labels, rotation=35 * crowded, ha="right" if crowded else "center")
    middle, half = (len(labels) - 1) / 2, max(len(labels), _LEAST_PLACES) / 2
    axes.set_xlim(middle - half, middle + half)
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="y", color=FAINT_INK, alpha=0.3, linewidth=0.7, zorder=0)
    axes.margins(y=0.1)
    if len(series) > 1:
        axes.legend(frameon=False, labelcolor=INK, fontsize=9)
    return hovers


def lying_bars(
    labels: Sequence[str],
    counts: Sequence[int],
    *,
    x_name: str,
    kinds: Sequence[str] = (),
    colours: Mapping[str, str] | None = None,
) -> tuple[object, dict[str, tuple[str, ...]]]:
    """Return (figure, hovers) of bars from top to bottom, each with its count.

    Args:
        labels: one a bar.
        counts: as many.
        x_name: of what is counted.
        kinds: of each bar, named in a key; none where all are of one kind.
        colours: of each kind.
    """
    names = [textwrap.fill(label, _LABEL_CHARACTERS, max_lines=2, placeholder="…") for label in labels]
    row = 0.4 if any("\n" in name for name in names) else 0.3  # inches
    figure, axes = new_figure(7.2, 1.1 + row * len(labels))
    hovers = Hovers()
    for place, (label, count) in enumerate(zip(labels, counts, strict=True)):
        (bar,) = axes.barh(place, count, 0.74, color=colours[kinds[place]] if kinds else HUES[0], zorder=2)
        hovers.put(f"bar-{place}", bar, f"{label}: {count:,}")
        axes.annotate(
            f"{count:,}", (count, place), (4, 0), textcoords="offset points", va="center", color=INK, fontsize=8
        )
    axes.set_yticks(range(len(labels)), names)
    axes.tick_params(axis="y", length=0)
    axes.invert_yaxis()
    axes.set_xlabel(x_name)
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=6)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.grid(axis="x", color=FAINT_INK, alpha=0.3, linewidth=0.7, zorder=0)
    axes.margins(x=0.12)
    named = list(dict.fromkeys(kinds))
    for kind in named:
        axes.barh(0, 0, color=colours[kind], label=kind)
    if named:
        figure.legend(loc="outside lower center", ncols=len(named), frameon=False, labelcolor=INK, fontsize=9)
    return figure, hovers


def doubling_counts(values: np.ndarray) -> tuple[list[str], list[int]]:
    """Return (names, counts) of the intervals 0, 1, 2–3, 4–7 and so on, from the least value's to the greatest's.

    Args:
        values: (values,) whole numbers from 0 on.
    """
    if not len(values):
        return [], []
    places = np.array([int(value).bit_length() for value in values])
    counts = np.bincount(places)
    first = int(places.min())
    names = [f"{n}" if n < 2 else f"{1 << (n - 1):,}–{(1 << n) - 1:,}" for n in range(first, len(counts))]
    return names, [int(count) for count in counts[first:]]
