"""The table of contents of a run: its headings, its articles in order, and the tree they form."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from statgraph.corpus.tree import tree_of

HEADING_ID_LENGTH = 12
_SEPARATOR = "\x1f"


@dataclass(frozen=True, slots=True)
class ArticleOutline:
    """An article without its text."""

    article_id: str
    title: str
    path: tuple[str, ...]


def heading_id_of(path: Sequence[str]) -> str:
    """Return the id of a heading in addresses: 12 hex digits of the SHA-256 of its path."""
    return hashlib.sha256(_SEPARATOR.join(path).encode("utf-8")).hexdigest()[:HEADING_ID_LENGTH]


class Contents:
    """Articles and headings by row, and their places in the tree.

    Attributes:
        outlines: the articles, in row order; those of one heading share one path object.
        hierarchy: the tree as arrays.
        headings: the path of each heading, parents before children.
        heading_ids: their ids in addresses.
        article_rows: the row of each article id.
        heading_rows: the row of each heading id.
        child_articles: the rows of the articles directly under each heading, in their order.
        articles_below: how many articles are under each heading, at any depth.
        headings_below: how many headings.
    """

    def __init__(self, outlines: Iterable[ArticleOutline]):
        paths: dict[tuple[str, ...], tuple[str, ...]] = {}
        self.outlines = tuple(
            replace(outline, path=paths.setdefault(outline.path, outline.path)) for outline in outlines
        )
        self.hierarchy = tree_of(self.outlines)
        self.headings = tuple(heading.path for heading in self.hierarchy.headings)
        self.heading_ids = tuple(heading_id_of(path) for path in self.headings)
        self.article_rows = {outline.article_id: row for row, outline in enumerate(self.outlines)}
        self.heading_rows = {heading_id: row for row, heading_id in enumerate(self.heading_ids)}
        # The last list is that of the codes, whose parent is -1.
        self._child_headings: list[list[int]] = [[] for _ in range(len(self.headings) + 1)]
        self.child_articles: list[list[int]] = [[] for _ in self.headings]
        for row, parent in enumerate(self.hierarchy.heading_parents.tolist()):
            self._child_headings[parent].append(row)
        for row, parent in enumerate(self.hierarchy.article_parents.tolist()):
            self.child_articles[parent].append(row)
        self.articles_below, self.headings_below = [0] * len(self.headings), [0] * len(self.headings)
        for row in reversed(range(len(self.headings))):  # children before parents
            below = self._child_headings[row]
            self.articles_below[row] = len(self.child_articles[row]) + sum(self.articles_below[at] for at in below)
            self.headings_below[row] = len(below) + sum(self.headings_below[at] for at in below)

    def __len__(self) -> int:
        return len(self.outlines)

    def child_headings(self, row: int | None) -> list[int]:
        """Return the rows of the headings directly under one, the codes for None, in their order."""
        return self._child_headings[-1 if row is None else row]

    def parent(self, row: int) -> int | None:
        """Return the row of the heading above a heading; None for a code."""
        parent = int(self.hierarchy.heading_parents[row])
        return parent if parent >= 0 else None

    def heading_of_article(self, article_row: int) -> int:
        """Return the row of the heading directly above an article."""
        return int(self.hierarchy.article_parents[article_row])

    def line_of(self, row: int) -> list[int]:
        """Return the rows of the headings from the code down to a heading, itself last."""
        line = [row]
        while (above := self.parent(line[-1])) is not None:
            line.append(above)
        return line[::-1]

    def beside(self, article_row: int) -> tuple[int | None, int | None]:
        """Return the rows of the articles before and after one in its code, None at the ends."""
        code = self.outlines[article_row].path[0]
        neighbours = (article_row - 1, article_row + 1)
        before, after = (
            row if 0 <= row < len(self) and self.outlines[row].path[0] == code else None for row in neighbours
        )
        return before, after
