"""The legislative tree as arrays: every heading a row, identified by its whole path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph.law.records import AnyArticle, Heading


@dataclass(frozen=True, eq=False)
class Tree:
    """Headings in order of first appearance, parents before children.

    `heading_parents` (headings,) and `article_parents` (articles,) are int64 rows in `headings`; a code's parent is -1.
    """

    headings: tuple[Heading, ...]
    heading_parents: np.ndarray
    article_parents: np.ndarray

    @property
    def depth(self) -> int:
        """Return the number of levels; 1 where there are only codes."""
        return max((heading.depth for heading in self.headings), default=0)

    @cached_property
    def heading_rows(self) -> dict[tuple[str, ...], int]:
        """Return the row of each heading by its path."""
        return {heading.path: row for row, heading in enumerate(self.headings)}

    def parent(self, heading: int) -> int | None:
        """Return the row of the heading above a heading; None for a code."""
        parent = int(self.heading_parents[heading])
        return parent if parent >= 0 else None

    def line(self, heading: int) -> list[int]:
        """Return the rows of the headings from the code down to a heading, itself last."""
        line = [heading]
        while (above := self.parent(line[-1])) is not None:
            line.append(above)
        return line[::-1]

    @cached_property
    def codes(self) -> list[int]:
        """Return the rows of the codes."""
        return np.flatnonzero(self.heading_parents < 0).tolist()

    @cached_property
    def child_headings(self) -> list[list[int]]:
        """Return the rows of the headings directly under each heading, in their order."""
        return _children(self.heading_parents, len(self.headings))

    @cached_property
    def child_articles(self) -> list[list[int]]:
        """Return the rows of the articles directly under each heading, in their order."""
        return _children(self.article_parents, len(self.headings))

    @cached_property
    def headings_below(self) -> list[int]:
        """Return how many headings are under each heading at any depth."""
        return [below - 1 for below in self.sums_below([1] * len(self.headings))]

    @cached_property
    def articles_below(self) -> list[int]:
        """Return how many articles are under each heading at any depth."""
        return self.sums_below([len(articles) for articles in self.child_articles])

    def articles_under(self, heading: int) -> np.ndarray:
        """Return which articles are under a heading at any depth, (articles,) bool."""
        under = np.arange(len(self.headings)) == heading
        for _ in range(self.depth - self.headings[heading].depth):
            under |= under[self.heading_parents] & (self.heading_parents >= 0)
        below: np.ndarray = under[self.article_parents]
        return below

    def sums_below(self, counts: list[int]) -> list[int]:
        """Return the sum of the counts of each heading and all below it."""
        sums = list(counts)
        for heading in reversed(range(len(sums))):  # children before parents
            parent = self.parent(heading)
            if parent is not None:
                sums[parent] += sums[heading]
        return sums


def tree_of(articles: Iterable[AnyArticle]) -> Tree:
    """Return the tree above the articles, in their order."""
    rows: dict[tuple[str, ...], int] = {}
    parents: list[int] = []
    article_parents: list[int] = []
    for article in articles:
        row = rows.get(article.path)
        if row is None:
            row = -1
            for depth in range(1, len(article.path) + 1):
                path = article.path[:depth]
                if path not in rows:
                    rows[path] = len(parents)
                    parents.append(row)
                row = rows[path]
        article_parents.append(row)
    headings = tuple(Heading(path) for path in rows)
    return Tree(headings, np.array(parents, dtype=np.int64), np.array(article_parents, dtype=np.int64))


def _children(parents: np.ndarray, n_headings: int) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in range(n_headings)]
    for row, parent in enumerate(parents.tolist()):
        if parent >= 0:
            children[parent].append(row)
    return children
