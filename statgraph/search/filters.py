"""Which articles a search may find: those of some codes, or under a heading."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.tree import Tree
from statgraph.corpus.where import Where
from statgraph.errors import UsageError

MAX_NAMED = 10
MAX_NEAR = 3


class ArticleFilter:
    """Chooses article rows by their place in the tree."""

    def __init__(self, hierarchy: Tree):
        self._headings = hierarchy.headings
        self._rows = {heading.path: row for row, heading in enumerate(hierarchy.headings)}
        self._starts, self._sizes = _numbered(hierarchy.heading_parents)
        self._article_places = self._starts[hierarchy.article_parents]  # (articles,)

    def rows(self, *, codes: Sequence[str] = (), heading: Sequence[str] = ()) -> AllowedRows | None:
        """Return the article rows in one of the codes and under the heading.

        Args:
            codes: titles of codes; none for all.
            heading: the path of a heading; none for all.

        Returns None where nothing is left out by name, which is quicker to search than all rows.

        Raises:
            UsageError: if a code or the heading is unknown.
        """
        if not codes and not heading:
            return None
        chosen = np.ones(len(self._article_places), dtype=bool)
        if codes:
            chosen &= np.logical_or.reduce([self._under(self._code_row(code)) for code in codes])
        if heading:
            chosen &= self._under(self._heading_row(tuple(heading)))
        return AllowedRows.of_mask(chosen, Where(codes=tuple(codes), heading=tuple(heading)))

    def _under(self, heading_row: int) -> np.ndarray:
        """Return which articles are under a heading, (articles,) bool."""
        start = self._starts[heading_row]
        return (self._article_places >= start) & (self._article_places < start + self._sizes[heading_row])

    def _code_row(self, code: str) -> int:
        row = self._rows.get((code,))
        if row is None:
            known = [heading.title for heading in self._headings if heading.depth == 1]
            more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
            raise UsageError(f"code '{code}': not among the articles; choose from {', '.join(known[:MAX_NAMED])}{more}")
        return row

    def _heading_row(self, path: tuple[str, ...]) -> int:
        if path not in self._rows:
            last = path[-1].casefold()
            near = [" > ".join(known) for known in self._rows if known[-1].casefold() == last][:MAX_NEAR]
            remedy = f"did you mean {' or '.join(map(repr, near))}?" if near else "name one from its code down"
            raise UsageError(f"heading '{' > '.join(path)}': no article is under it; {remedy}")
        return self._rows[path]


def _numbered(parents: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (number of each heading, how many it and all under it are): all under one are numbered consecutively.

    `parents` (headings,) are rows, -1 for a code; parents come before their children.
    """
    sizes = np.ones(len(parents), dtype=np.int64)
    for row in range(len(parents) - 1, -1, -1):
        if parents[row] >= 0:
            sizes[parents[row]] += sizes[row]
    starts = np.empty(len(parents), dtype=np.int64)
    free = np.empty(len(parents), dtype=np.int64)  # the first number under each that is not taken
    free_top = 0
    for row, parent in enumerate(parents):
        starts[row] = free_top if parent < 0 else free[parent]
        free[row] = starts[row] + 1
        if parent < 0:
            free_top += sizes[row]
        else:
            free[parent] += sizes[row]
    return starts, sizes
