"""The tree of a code, from left to right, each heading as high as the articles under it are many."""

from __future__ import annotations

import textwrap

from statgraph.corpus.records import Corpus
from statgraph.plotting.branches import Box, boxes_of, branch_of, chosen_code
from statgraph.plotting.drawing import HUES, PAPER, REST, Drawing, new_figure, shortened

WIDTH, HEIGHT = 12.0, 11.0  # inches
_MOST_LEVELS = 6
_FIRST_COLUMN = 0.4  # inches: the code's title stands upright in it
_POINTS = 6.5
_LINE = _POINTS * 1.22  # points from line to line
_CHARACTER = _POINTS * 0.51  # points, of DejaVu Sans
_LEAST = _LINE * 1.05 / (HEIGHT * 72)  # one line of text
_DARK_TEXT = "#141418"


def tree_drawing(corpus: Corpus, code: str | None = None) -> Drawing:
    """Return the headings of one code, those without room for a line of text put together.

    Args:
        code: its title, or a part of it; without it the code of most articles.

    Raises:
        UsageError: if no code, or more than one, fits.
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
    hovers = {}
    for number, box in enumerate(boxes):
        left = 0 if box.level == 0 else _FIRST_COLUMN + (box.level - 1) * column
        width = _FIRST_COLUMN if box.level == 0 else column
        (bar,) = axes.bar(
            left, box.bottom - box.top, width, bottom=box.top, align="edge", color=_colour(box), edgecolor=PAPER,
            linewidth=0.6,
        )  # fmt: skip
        bar.set_gid(f"box-{number}")
        hovers[f"box-{number}"] = (_says(box),)
        height_points = (box.bottom - box.top) * figure.get_figheight() * 72
        if box.level == 0:
            text = shortened(root.path[0], int(height_points / _CHARACTER))
            axes.text(width / 2, 0.5, text, rotation=90, ha="center", va="center", fontsize=8, color=_DARK_TEXT)
        elif height_points >= _LINE * 0.98:
            text = _fitted(_label(box), 0.98 * 72 * column - 8, height_points)
            place = (left + 4 / 72, (box.top + box.bottom) / 2)
            axes.text(*place, text, va="center", fontsize=_POINTS, color=_DARK_TEXT, linespacing=1.15)
    own = sum(len(box.branches) == 1 for box in boxes)
    return Drawing(
        name="tree",
        title=f"{title}, as a tree",
        description=(
            f"From left to right the headings of {title}: {root.articles:,} articles under {root.headings:,} headings. "
            f"A box is as high as the articles under it are many. {own - 1:,} headings have a box of their own; small "
            "neighbours share a grey one, and what is under them, and under what is too low, is not shown."
        ),
        figure=figure,
        columns=("heading right under the code", "headings under it", "articles"),
        rows=tuple((child.path[-1], child.headings, child.articles) for child in root.children.values()),
        hovers=hovers,
    )


def _colour(box: Box) -> str:
    """Return a tint of the family's hue, lighter with every level; grey for the code and for what shares a box."""
    from matplotlib.colors import to_hex, to_rgb

    hue = REST if box.family < 0 or len(box.branches) > 1 else HUES[box.family % len(HUES)]
    white = min(0.85, 0.45 + 0.09 * box.level) if hue != REST else 0.55
    return to_hex([white + (1 - white) * part for part in to_rgb(hue)])


def _says(box: Box) -> str:
    if len(box.branches) == 1:
        return f"{' > '.join(box.branches[0].path)}: {box.articles:,} articles"
    first, last = (box.branches[place].path[-1] for place in (0, -1))
    return f"{len(box.branches):,} headings, {first} to {last}: {box.articles:,} articles"


def _label(box: Box) -> str:
    return box.branches[0].path[-1] if len(box.branches) == 1 else f"{len(box.branches):,} headings"


def _fitted(text: str, width: float, height: float) -> str:
    """Return as many lines of a text as a box of so many points holds, an ellipsis where some is left out."""
    characters, most = max(4, int(width / _CHARACTER)), max(1, int(height / _LINE))
    return "\n".join(textwrap.wrap(text, characters, max_lines=most, placeholder="…"))
