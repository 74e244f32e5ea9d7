"""The tree of a code: from left to right, each heading as high as its number of articles."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from statgraph.corpus.records import Article, Corpus
from statgraph.errors import UsageError
from statgraph.evaluation.plots import INK, PAPER, new_figure
from statgraph.plotting.drawing import HUES, REST, Drawing, Hovers, Item, shortened

WIDTH, HEIGHT = 12.0, 11.0  # inches
_MOST_LEVELS = 6
_FIRST_COLUMN = 0.4  # inches: holds the code's title, upright
_POINTS = 6.5
_LINE = _POINTS * 1.22  # points from line to line
_CHARACTER = _POINTS * 0.51  # points, of DejaVu Sans
_LEAST = _LINE * 1.05 / (HEIGHT * 72)  # one line of text
_DARK_TEXT = "#141418"


@dataclass
class Branch:
    """A heading with what is under it, in the order of the code.

    Attributes:
        path: the headings from the code down to this one.
        articles, headings: how many are under it, at any depth.
        children: the headings directly under it.
    """

    path: tuple[str, ...]
    articles: int = 0
    headings: int = 0
    children: dict[str, Branch] = field(default_factory=dict)


@dataclass(frozen=True)
class Box:
    """A box in the picture: one branch, or several neighbours too small for a box of their own.

    Attributes:
        branches: one, or those that share the box.
        level: 0 for the code.
        top, bottom: from 0 to 1 down the picture.
        family: the number of the code's child that it belongs to; -1 for the code.
    """

    branches: tuple[Branch, ...]
    level: int
    top: float
    bottom: float
    family: int

    @property
    def articles(self) -> int:
        """Return the articles under it."""
        return sum(branch.articles for branch in self.branches)


def chosen_code(articles: Sequence[Article], name: str | None) -> str:
    """Return the code with that title, or the only one whose title contains `name`; without a name the largest code.

    Raises:
        UsageError: if no title, or more than one, matches.
    """
    counts: dict[str, int] = {}
    for article in articles:
        counts[article.code] = counts.get(article.code, 0) + 1
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


def branch_of(articles: Sequence[Article], code: str) -> Branch:
    """Return the tree of a code."""
    root = Branch((code,))
    for article in articles:
        if article.code != code:
            continue
        above, branch = [root], root
        for depth, title in enumerate(article.path[1:], start=2):
            if title not in branch.children:
                branch.children[title] = Branch(article.path[:depth])
                for ancestor in above:
                    ancestor.headings += 1
            branch = branch.children[title]
            above.append(branch)
        for ancestor in above:
            ancestor.articles += 1
    return root


def boxes_of(root: Branch, *, least: float, levels: int) -> Iterator[Box]:
    """Yield the boxes of a tree, each as high as its share of the code's articles, parents first.

    Args:
        least: the height below which a branch has no box of its own: it shares one with its small neighbours, and what
            is under it is not shown.
        levels: the number of levels, including the code's.
    """
    yield from _with_those_below(Box((root,), 0, 0.0, 1.0, -1), least, levels)


def _with_those_below(box: Box, least: float, levels: int) -> Iterator[Box]:
    yield box
    if box.level + 1 >= levels or len(box.branches) > 1 or box.bottom - box.top < least:
        return
    (branch,) = box.branches
    scale = (box.bottom - box.top) / branch.articles
    top = box.top
    for family, group in _groups(branch, least / scale):
        articles = sum(member.articles for member in group)
        child = Box(tuple(group), box.level + 1, top, top + articles * scale, family if box.level == 0 else box.family)
        top = child.bottom
        yield from _with_those_below(child, least, levels)


def _groups(branch: Branch, least: float) -> Iterator[tuple[int, list[Branch]]]:
    """Yield (number of the first, children that share a box), small neighbours together."""
    small: list[Branch] = []
    first = 0
    for number, child in enumerate(branch.children.values()):
        if child.articles < least:
            first = first if small else number
            small.append(child)
            continue
        if small:
            yield first, small
            small = []
        yield number, [child]
    if small:
        yield first, small


def tree_drawing(corpus: Corpus, code: str | None = None) -> Drawing:
    """Return the headings of one code; those too small for a line of text share boxes.

    Args:
        code: its title, or a part of it; None is the code with the most articles.

    Raises:
        UsageError: if no code, or more than one, matches.
    """
    title = chosen_code(corpus.articles, code)
    root = branch_of(corpus.articles, title)
    boxes = list(boxes_of(root, least=_LEAST, levels=_MOST_LEVELS))
    levels = 1 + max(box.level for box in boxes)
    figure, axes = new_figure(WIDTH, min(HEIGHT, max(3.0, 0.16 * len(boxes))))
    axes.set_axis_off()
    axes.set_xlim(0, WIDTH)
    column = (WIDTH - _FIRST_COLUMN) / max(1, levels - 1)
    axes.set_ylim(1, 0)
    hovers = Hovers()
    for number, box in enumerate(boxes):
        left = 0 if box.level == 0 else _FIRST_COLUMN + (box.level - 1) * column
        width = _FIRST_COLUMN if box.level == 0 else column
        (bar,) = axes.bar(
            left, box.bottom - box.top, width, bottom=box.top, align="edge", color=_colour(box), edgecolor=PAPER,
            linewidth=0.6,
        )  # fmt: skip
        hovers.put(f"box-{number}", bar, _says(box))
        height_points = (box.bottom - box.top) * figure.get_figheight() * 72
        if box.level == 0:
            text = shortened(root.path[0], int(height_points / _CHARACTER))
            axes.text(width / 2, 0.5, text, rotation=90, ha="center", va="center", fontsize=8, color=_DARK_TEXT)
        elif height_points >= _LINE * 0.98:
            text = _fitted(_label(box), 0.98 * 72 * column - 8, height_points)
            place = (left + 4 / 72, (box.top + box.bottom) / 2)
            axes.text(*place, text, va="center", fontsize=_POINTS, color=_DARK_TEXT, linespacing=1.15)
    own = sum(len(box.branches) == 1 for box in boxes)
    if own < len(boxes):
        _write_key(figure, _colour(next(box for box in boxes if len(box.branches) > 1)))
    return Drawing(
        name="tree",
        title=f"{title}: headings by number of articles",
        description=(
            f"From left to right the headings of {title}: {root.articles:,} articles under {root.headings:,} headings. "
            f"The height of a box is its number of articles. {own - 1:,} headings have a box of their own; small "
            "neighbours share a grey one, and what is under them, and under boxes too low, is in the list below alone."
        ),
        figure=figure,
        columns=("heading directly under the code", "headings under it", "articles"),
        rows=tuple((child.path[-1], child.headings, child.articles) for child in root.children.values()),
        hovers=hovers,
        outline=tuple(map(_item, root.children.values())),
        outline_title=f"All headings of {title}",
    )


def _write_key(figure, colour: str) -> None:
    from matplotlib.patches import Rectangle

    words = "small headings together: the list on the page of this plot has each"
    patch = Rectangle((0, 0), 1, 1, color=colour)
    figure.legend([patch], [words], loc="outside lower center", frameon=False, labelcolor=INK, fontsize=9)


def _item(branch: Branch) -> Item:
    return Item(branch.path[-1], _count(branch.articles), tuple(map(_item, branch.children.values())))


def _count(articles: int) -> str:
    return f"{articles:,} article{'s' * (articles != 1)}"


def _colour(box: Box) -> str:
    """Return a tint of the family's hue, lighter with every level; grey for the code and for what shares a box."""
    from matplotlib.colors import to_hex, to_rgb

    hue = REST if box.family < 0 or len(box.branches) > 1 else HUES[box.family % len(HUES)]
    white = min(0.85, 0.45 + 0.09 * box.level) if hue != REST else 0.55
    return to_hex([white + (1 - white) * part for part in to_rgb(hue)])


def _says(box: Box) -> str:
    if len(box.branches) == 1:
        return f"{' > '.join(box.branches[0].path)}: {_count(box.articles)}"
    first, last = (box.branches[place].path[-1] for place in (0, -1))
    return f"{len(box.branches):,} headings, {first} to {last}: {_count(box.articles)}"


def _label(box: Box) -> str:
    return box.branches[0].path[-1] if len(box.branches) == 1 else f"{len(box.branches):,} headings"


def _fitted(text: str, width: float, height: float) -> str:
    """Return as many lines of a text as a box of so many points holds, an ellipsis where some is left out."""
    characters, most = max(4, int(width / _CHARACTER)), max(1, int(height / _LINE))
    return "\n".join(textwrap.wrap(text, characters, max_lines=most, placeholder="…"))
