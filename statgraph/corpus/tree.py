"""The legislative tree as arrays: every heading a row, identified by its whole path."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statgraph.corpus.records import Article, Heading


@dataclass(frozen=True)
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


def tree_of(articles: tuple[Article, ...]) -> Tree:
    """Return the tree above the articles, in their order."""
    rows: dict[tuple[str, ...], int] = {}
    parents: list[int] = []
    article_parents = np.empty(len(articles), dtype=np.int64)
    for article_row, article in enumerate(articles):
        row = rows.get(article.path)
        if row is None:
            row = -1
            for depth in range(1, len(article.path) + 1):
                path = article.path[:depth]
                if path not in rows:
                    rows[path] = len(parents)
                    parents.append(row)
                row = rows[path]
        article_parents[article_row] = row
    headings = tuple(Heading(path) for path in rows)
    return Tree(headings, np.array(parents, dtype=np.int64), article_parents)
