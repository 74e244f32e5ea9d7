"""Plots of a corpus: the sizes of its codes, the labels of its questions, and the tree of one code."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.corpus.records import SPLITS, Article, Corpus
from statgraph.corpus.tree import Tree, tree_of
from statgraph.errors import UsageError
from statgraph.evaluation.plots import PAPER, new_panels
from statgraph.plotting.drawing import HUES, REST, Drawing, Hovers, Outline, bars_figure, shortened

_MOST_BARS = 30
_SINGLE = 10  # each number of labels up to this has a bar of its own
_WIDER = ((11, 20), (21, 50), (51, 100))
_WIDTH, _HEIGHT = 12.0, 11.0  # inches, of a tree
_MOST_LEVELS = 6
_FIRST_COLUMN = 0.4  # inches: holds the code's title, upright
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
    figure, hovers = bars_figure(labels, {"articles": sizes}, x_name="articles")
    description = (
        f"Articles of each code: {len(corpus.articles):,} in {len(counts):,} code{'s' * (len(counts) > 1)}, "
        f"{100 * counts[0][1] / len(corpus.articles):.0f} % of them in {counts[0][0]}."
    )
    return Drawing("codes", "Articles by code", description, figure, ("code", "articles"), tuple(rows), hovers)


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
    figure, hovers = bars_figure(names, series, x_name="questions, by number of articles that answer them")
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
        hovers=hovers,
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


class CodeTree:
    """The tree of one code: `children[row]` are the headings directly under a heading, `n_articles` and `n_headings`
    (headings,) int64 count what is under it at any depth."""

    def __init__(self, tree: Tree):
        self.headings = tree.headings
        self.children: list[list[int]] = [[] for _ in tree.headings]
        self.n_articles = np.bincount(tree.article_parents, minlength=len(tree.headings))
        self.n_headings = np.zeros(len(tree.headings), dtype=np.int64)
        for row in range(len(tree.headings) - 1, 0, -1):  # parents come before children
            parent = tree.heading_parents[row]
            self.children[parent].insert(0, row)
            self.n_articles[parent] += self.n_articles[row]
            self.n_headings[parent] += self.n_headings[row] + 1

    def label(self, row: int) -> str:
        """Return a heading's title and its number of articles."""
        count = int(self.n_articles[row])
        return f"{self.headings[row].title}: {count:,} article{'s' * (count != 1)}"

    def outline(self, row: int = 0) -> Outline:
        """Return all headings under a heading."""
        return [(self.label(child), self.outline(child)) for child in self.children[row]]


@dataclass(frozen=True)
class Box:
    """The box of one heading.

    Attributes:
        row: of the heading.
        level: 0 for the code.
        top, bottom: from 0 to 1 down the plot.
        family: the number of the code's child that it belongs to; -1 for the code.
    """

    row: int
    level: int
    top: float
    bottom: float
    family: int


def boxes_of(tree: CodeTree, *, least: float, levels: int) -> Iterator[Box]:
    """Yield the boxes of a tree, each as high as its share of the code's articles, parents first; headings lower than
    `least`, and what is under them, have none."""
    waiting = [Box(0, 0, 0.0, 1.0, -1)]
    while waiting:
        box = waiting.pop()
        yield box
        top = box.top
        for number, row in enumerate(tree.children[box.row]):
            bottom = top + tree.n_articles[row] / tree.n_articles[0]
            if box.level + 1 < levels and bottom - top >= least:
                waiting.append(Box(row, box.level + 1, top, bottom, number if box.level == 0 else box.family))
            top = bottom


def tree_drawing(corpus: Corpus, code: str | None = None) -> Drawing:
    """Return the headings of one code, from left to right.

    Args:
        code: its title, or a part of it; None is the code with the most articles.

    Raises:
        UsageError: if no code, or more than one, matches.
    """
    title = chosen_code(corpus.articles, code)
    tree = CodeTree(tree_of(tuple(article for article in corpus.articles if article.code == title)))
    boxes = list(boxes_of(tree, least=LEAST, levels=_MOST_LEVELS))
    figure, (axes,) = new_panels(_WIDTH, min(_HEIGHT, max(3.0, 0.16 * len(boxes))))
    axes.set_axis_off()
    axes.set_xlim(0, _WIDTH)
    axes.set_ylim(1, 0)
    levels = 1 + max(box.level for box in boxes)
    lefts = [0.0, *np.linspace(_FIRST_COLUMN, _WIDTH, max(2, levels))]
    hovers = Hovers()
    for number, box in enumerate(boxes):
        left, right = lefts[box.level : box.level + 2]
        place = {"bottom": box.top, "align": "edge", "edgecolor": PAPER, "linewidth": 0.6}
        (bar,) = axes.bar(left, box.bottom - box.top, right - left, color=_colour(box), zorder=2, **place)
        hovers.put(f"box-{number}", bar, f"{' > '.join(tree.headings[box.row].path)}: {tree.n_articles[box.row]:,}")
        if box.level + 1 < levels and tree.children[box.row]:  # shows where headings are too small for a box
            under = sum(tree.n_articles[row] for row in tree.children[box.row]) / tree.n_articles[0]
            axes.bar(right, under, lefts[box.level + 2] - right, color=REST, alpha=0.35, zorder=1, **place)
        height = (box.bottom - box.top) * figure.get_figheight() * 72  # points
        text = _fitted(tree.headings[box.row].title, 0.98 * 72 * (right - left) - 8, height)
        style = {"va": "center", "color": _DARK_TEXT, "zorder": 3}
        if box.level == 0:
            upright = shortened(title, int(height / _CHARACTER))
            axes.text(right / 2, 0.5, upright, rotation=90, ha="center", fontsize=8, **style)
        else:
            axes.text(left + 4 / 72, (box.top + box.bottom) / 2, text, fontsize=_POINTS, linespacing=1.15, **style)
    return Drawing(
        name="tree",
        title=f"{title}: headings by number of articles",
        description=(
            f"From left to right the headings of {title}: {tree.n_articles[0]:,} articles under {tree.n_headings[0]:,} "
            "headings. The height of a box is its number of articles. Grey stands for headings too small for a box; "
            "the list below has them all."
        ),
        figure=figure,
        columns=("heading directly under the code", "headings under it", "articles"),
        rows=tuple(
            (tree.headings[row].title, int(tree.n_headings[row]), int(tree.n_articles[row])) for row in tree.children[0]
        ),
        hovers=hovers,
        outline=tree.outline(),
    )


def _colour(box: Box) -> str:
    """Return a tint of the family's hue, lighter with every level; grey for the code."""
    from matplotlib.colors import to_hex, to_rgb

    hue = REST if box.family < 0 else HUES[box.family % len(HUES)]
    white = min(0.85, 0.45 + 0.09 * box.level)
    return to_hex([white + (1 - white) * part for part in to_rgb(hue)])


def _fitted(text: str, width: float, height: float) -> str:
    """Return as many lines of a text as a box of so many points holds, an ellipsis where some is left out."""
    characters, most = max(4, int(width / _CHARACTER)), max(1, int(height / _LINE))
    return "\n".join(textwrap.wrap(text, characters, max_lines=most, placeholder="…"))
