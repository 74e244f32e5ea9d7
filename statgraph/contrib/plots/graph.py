"""The plot of a graph: the tree of one code."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.contrib.plots.figures import COLOURS, GREY, key_below, new_figure
from statgraph.errors import UsageError
from statgraph.law.records import Article, Corpus
from statgraph.law.tree import tree_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WIDTH, _MOST_HEIGHT = 12.0, 11.0  # inches
_MOST_LEVELS = 5
_POINTS = 6.5
_LINE = 1.22 * _POINTS / 72  # inches from line to line
_CHARACTER = 0.54 * _POINTS / 72  # inches, of DejaVu Sans
_TOO_SMALL: dict[str, Any] = {"color": GREY, "alpha": 0.35, "linewidth": 0}


def chosen_code(articles: Sequence[Article], name: str | None) -> str:
    """Return the code with that title, or the only one whose title contains `name`; without a name the largest code.

    Raises:
        UsageError: if no title, or more than one, matches.
    """
    counts = Counter(article.code for article in articles)
    if name is None:
        return max(counts, key=counts.__getitem__)
    if name in counts:
        return name
    matching = [code for code in counts if name.casefold() in code.casefold()]
    if len(matching) == 1:
        return matching[0]
    raise UsageError(
        f"code '{name}': {'matches more than one' if matching else 'not in the corpus'}; choose from "
        f"{', '.join(sorted(matching or counts))}"
    )


def tree_figure(corpus: Corpus, code: str | None = None) -> Figure:
    """Return the headings of one code, from left to right; a box is as high as its share of the code's articles.

    Args:
        code: its title, or a part of it; None is the code with the most articles.

    Raises:
        UsageError: if no code, or more than one, matches.
    """
    title = chosen_code(corpus.articles, code)
    tree = tree_of(article for article in corpus.articles if article.code == title)
    height = min(_MOST_HEIGHT, max(3.0, 0.16 * len(tree.headings)))
    heights = height * np.array(tree.articles_below) / tree.articles_below[0]  # (headings,) inches
    levels = min(_MOST_LEVELS, max(1, tree.depth - 1))  # the code itself is the whole figure
    characters = int(0.96 * _WIDTH / levels / _CHARACTER)  # of a line
    figure, (axes,) = new_figure(_WIDTH, height)
    axes.set_axis_off()
    axes.set(xlim=(0, levels), ylim=(height, 0))

    def draw_below(row: int, level: int, top: float, hue: str | None = None) -> None:
        for number, child in enumerate(tree.child_headings[row]):
            colour = hue or COLOURS[number % len(COLOURS)]
            n_lines = int(heights[child] / _LINE)
            named: dict[str, Any] = {"color": (colour, 0.5 - 0.07 * level), "edgecolor": "white", "linewidth": 0.6}
            axes.bar(level, heights[child], 1, bottom=top, align="edge", **(named if n_lines else _TOO_SMALL))
            if n_lines:
                text = textwrap.fill(tree.headings[child].title, characters, max_lines=n_lines, placeholder="…")
                axes.text(level + 0.02, top + heights[child] / 2, text, va="center", fontsize=_POINTS)
                if level + 1 < levels:
                    draw_below(child, level + 1, top, colour)
            top += heights[child]

    draw_below(0, 0, 0.0)
    figure.suptitle(f"{title}: {tree.articles_below[0]:,} articles under {tree.headings_below[0]:,} headings")
    if heights.min() < _LINE:
        axes.bar(0, 0, label="headings too small for their title", **_TOO_SMALL)
        key_below(figure, axes)
    return figure
