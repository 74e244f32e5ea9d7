"""The table of contents of a run: its headings, its articles in their order, and what stands below what."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.graph.hierarchy import hierarchy_of

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
        outlines: the articles, in row order.
        headings: the path of each heading, parents before children.
        hierarchy: the same tree as arrays.
    """

    def __init__(self, outlines: Iterable[ArticleOutline]):
        self.outlines = _with_shared_paths(outlines)
        self.hierarchy = hierarchy_of(self.outlines)
        self.headings = tuple(heading.path for heading in self.hierarchy.headings)
        self._article_rows = {outline.article_id: row for row, outline in enumerate(self.outlines)}
        self._heading_ids = tuple(heading_id_of(path) for path in self.headings)
        self._heading_rows = {heading_id: row for row, heading_id in enumerate(self._heading_ids)}
        article_parents, heading_parents = self.hierarchy.article_parents, self.hierarchy.heading_parents
        self._articles_by_parent = np.argsort(article_parents, kind="stable")
        self._article_starts = np.searchsorted(
            article_parents[self._articles_by_parent], np.arange(len(self.headings) + 1)
        )
        self._headings_by_parent = np.argsort(heading_parents, kind="stable")
        self._heading_starts = np.searchsorted(
            heading_parents[self._headings_by_parent], np.arange(-1, len(self.headings) + 1)
        )
        self._articles_below = np.diff(self._article_starts)
        self._headings_below = np.zeros(len(self.headings), dtype=np.int64)
        for row in range(len(self.headings) - 1, -1, -1):  # children before parents
            parent = heading_parents[row]
            if parent >= 0:
                self._articles_below[parent] += self._articles_below[row]
                self._headings_below[parent] += self._headings_below[row] + 1

    def __len__(self) -> int:
        return len(self.outlines)

    def article_row(self, article_id: str) -> int | None:
        """Return the row of an article, or None."""
        return self._article_rows.get(article_id)

    def heading_row(self, heading_id: str) -> int | None:
        """Return the row of the heading with an id, or None."""
        return self._heading_rows.get(heading_id)

    def heading_id(self, row: int) -> str:
        """Return the id of a heading."""
        return self._heading_ids[row]

    def articles_below(self, row: int) -> int:
        """Return how many articles stand under a heading, at any depth."""
        return int(self._articles_below[row])

    def headings_below(self, row: int) -> int:
        """Return how many headings stand under a heading, at any depth."""
        return int(self._headings_below[row])

    def child_headings(self, row: int | None) -> list[int]:
        """Return the rows of the headings directly under one, the codes for None, in their order."""
        start = 0 if row is None else row + 1
        return self._headings_by_parent[self._heading_starts[start] : self._heading_starts[start + 1]].tolist()

    def child_articles(self, row: int) -> list[int]:
        """Return the rows of the articles directly under a heading, in their order."""
        return self._articles_by_parent[self._article_starts[row] : self._article_starts[row + 1]].tolist()

    def parent(self, row: int) -> int | None:
        """Return the row of the heading above a heading; None for a code."""
        parent = int(self.hierarchy.heading_parents[row])
        return parent if parent >= 0 else None

    def heading_of_article(self, article_row: int) -> int:
        """Return the row of the heading that an article stands in."""
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


def _with_shared_paths(outlines: Iterable[ArticleOutline]) -> tuple[ArticleOutline, ...]:
    """Return the outlines with one path object for all articles of a heading: a path is read anew for each."""
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    return tuple(
        ArticleOutline(outline.article_id, outline.title, shared.setdefault(outline.path, outline.path))
        for outline in outlines
    )
