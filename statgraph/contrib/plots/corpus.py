"""Plots of a corpus: the sizes of its codes, the labels of its questions, and the tree of one code."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from statgraph.contrib.plots.drawing import HUES, REST, Drawing, Outline, bars_figure
from statgraph.contrib.plots.figures import PAPER, new_panels
from statgraph.errors import UsageError
from statgraph.law.records import SPLITS, Article, Corpus
from statgraph.law.tree import Tree, tree_of

_MOST_BARS = 30
_SINGLE = 10  # each number of labels up to this has a bar of its own
_WIDER = ((11, 20), (21, 50), (51, 100))
_WIDTH, _HEIGHT = 12.0, 11.0  # inches, of a tree
_MOST_LEVELS = 6
_POINTS = 6.5
_LINE = _POINTS * 1.22  # points from line to line
_CHARACTER = _POINTS * 0.51  # points, of DejaVu Sans
LEAST = _LINE * 1.05 / (_HEIGHT * 72)  # one line of text
_DARK_TEXT = "#141418"


def corpus_drawings(corpus: Corpus) -> list[Drawing]:
    """Return the sizes of a corpus's codes and, where it has questions, their labels."""
    return [codes_drawing(corpus), *([labels_drawing(corpus)] if any(map(corpus.split, SPLITS)) else [])]


def codes_drawing(corpus: Corpus) -> Drawing:
    """Return the number of articles of each code, the largest first; those past the thirtieth in one bar."""
    counts = Counter(article.code for article in corpus.articles).most_common()
    rows = counts if len(counts) <= _MOST_BARS else counts[: _MOST_BARS - 1]
    if rest := counts[len(rows) :]:
        rows = [*rows, (f"{len(rest):,} other codes", sum(count for _, count in rest))]
    labels, sizes = zip(*rows, strict=True)
    figure = bars_figure(labels, {"articles": sizes}, x_name="articles")
    description = (
        f"Articles of each code: {len(corpus.articles):,} in {len(counts):,} code{'s' * (len(counts) > 1)}, "
        f"{100 * counts[0][1] / len(corpus.articles):.0f} % of them in {counts[0][0]}."
    )
    return Drawing("codes", "Articles by code", description, figure, ("code", "articles"), tuple(rows))


def labels_drawing(corpus: Corpus) -> Drawing:
    """Return the number of questions of the main set by the number of articles that answer them, by split."""
    labels = {split: [len(question.article_ids) for question in corpus.split(split)] for split in SPLITS}
    labels = {split: counts for split, counts in labels.items() if counts}
    every = [count for counts in labels.values() for count in counts]
    most = max(every)
    bins = [*((number, number) for number in range(1, _SINGLE + 1)), *_WIDER, (_WIDER[-1][1] + 1, most)]
    bins = [(low, high) for low, high in bins if low <= most]
    series = {
        split: [sum(low <= count <= high for count in counts) for low, high in bins] for split, counts in labels.items()
    }
    names = [str(low) if low == high else f"{low}–{high}" for low, high in bins]
    figure = bars_figure(names, series, x_name="questions, by number of articles that answer them")
    return Drawing(
        name="labels",
        title="Questions by number of articles that answer them",
        description=(
            f"Questions by the number of articles that answer them, by split. Half have {np.median(every):g} or "
            f"fewer, the mean is {np.mean(every):.1f}, the most {most:,}."
        ),
        figure=figure,
        columns=("articles", *series),
        rows=tuple(zip(names, *series.values(), strict=True)),
    )


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


def outline_of(tree: Tree, row: int = 0) -> Outline:
    """Return all headings under a heading, each with its number of articles."""
    return [
        (f"{tree.headings[child].title}: {count:,} article{'s' * (count != 1)}", outline_of(tree, child))
        for child in tree.child_headings[row]
        for count in [tree.articles_below[child]]
    ]


def tree_drawing(corpus: Corpus, code: str | None = None) -> Drawing:
    """Return the headings of one code, from left to right; a box is as high as its share of the code's articles.

    Args:
        code: its title, or a part of it; None is the code with the most articles.

    Raises:
        UsageError: if no code, or more than one, matches.
    """
    title = chosen_code(corpus.articles, code)
    tree = tree_of(article for article in corpus.articles if article.code == title)
    share = np.array(tree.articles_below) / tree.articles_below[0]  # (headings,)
    height = min(_HEIGHT, max(3.0, 0.16 * len(tree.headings)))
    levels = min(_MOST_LEVELS, tree.depth)
    figure, (axes,) = new_panels(_WIDTH, height)
    axes.set_axis_off()
    axes.set(xlim=(0, levels), ylim=(1, 0))
    characters = int(0.96 * 72 * _WIDTH / levels / _CHARACTER)  # of a line

    def draw(row: int, level: int, top: float, hue: str) -> None:
        style: dict[str, Any] = {"bottom": top, "align": "edge", "edgecolor": PAPER, "linewidth": 0.6}
        (bar,) = axes.bar(level, share[row], 1, color=_tint(hue, level), zorder=2, **style)
        bar.set_url(f"{' > '.join(tree.headings[row].path)}: {tree.articles_below[row]:,}")
        most = max(1, int(share[row] * height * 72 / _LINE))  # lines
        text = textwrap.fill(tree.headings[row].title, characters, max_lines=most, placeholder="…")
        axes.text(level + 0.02, top + share[row] / 2, text, va="center", color=_DARK_TEXT, fontsize=_POINTS, zorder=3)
        children = tree.child_headings[row] if level + 1 < levels else []
        if children:  # shows where headings are too small for a box
            axes.bar(level + 1, share[children].sum(), 1, color=REST, alpha=0.35, zorder=1, **style)
        for number, child in enumerate(children):
            if share[child] >= LEAST:
                draw(child, level + 1, top, hue if level else HUES[number % len(HUES)])
            top += share[child]

    draw(0, 0, 0.0, REST)
    return Drawing(
        name="tree",
        title=f"{title}: headings by number of articles",
        description=(
            f"From left to right the headings of {title}: {tree.articles_below[0]:,} articles under "
            f"{tree.headings_below[0]:,} headings. The height of a box is its number of articles. Grey stands for "
            "headings too small for a box; the list below has them all."
        ),
        figure=figure,
        columns=("heading directly under the code", "headings under it", "articles"),
        rows=tuple(
            (tree.headings[row].title, tree.headings_below[row], tree.articles_below[row])
            for row in tree.child_headings[0]
        ),
        outline=outline_of(tree),
    )


def _tint(hue: str, level: int) -> str:
    """Return a hue made lighter with every level."""
    from matplotlib.colors import to_hex, to_rgb

    white = min(0.85, 0.45 + 0.09 * level)
    return to_hex([white + (1 - white) * part for part in to_rgb(hue)])
