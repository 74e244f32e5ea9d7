"""The article rows that a search may return, checked once and passed on as one object, and the conditions on what is
known of an article, its columns, that they meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from statgraph.errors import UsageError
from statgraph.law.normal_text import normal_heading
from statgraph.law.tree import Tree

MAX_NAMED, MAX_NEAR = 10, 3  # codes and headings that a refusal lists


@dataclass(frozen=True)
class Where:
    """Which articles a search may find: those that meet every condition given.

    Attributes:
        codes: titles of codes, of which an article is in one; none for all.
        heading: the path of a heading, its titles from the code down, that an article is under; none for all.
        day: an ordinal, as `date.toordinal` counts, on which an article is in force; None for whatever day.
        ids: the article ids to search; None for all.
    """

    codes: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    day: int | None = None
    ids: tuple[str, ...] | None = None

    def __and__(self, other: Where) -> Where | None:
        """Return both conditions as one, or None if both say something of the same column."""
        ours, theirs = self._given(), other._given()
        return None if ours.keys() & theirs.keys() else Where(**ours, **theirs)

    def _given(self) -> dict[str, Any]:
        return {item.name: value for item in fields(self) if (value := getattr(self, item.name)) != item.default}


ANYWHERE = Where()


@dataclass(frozen=True, eq=False)
class AllowedRows:
    """Article rows that a search is limited to; make them with `checked` or `of_mask`.

    Attributes:
        rows: (rows,) int64, ascending and unique.
        n_articles: how many articles there are.
        where: the condition on their columns that exactly these rows meet, for an index that knows the columns and not
            the rows; None where they were chosen in another way.
    """

    rows: np.ndarray
    n_articles: int
    where: Where | None = None

    @classmethod
    def checked(cls, rows: Sequence[int] | np.ndarray, n_articles: int) -> AllowedRows:
        """Return the rows that a caller asks for: whole numbers in any order, possibly repeated, possibly none.

        Raises:
            UsageError: if `rows` is not a list of whole numbers (a mask, for example), or one of them is not a row.
        """
        asked = np.asarray(rows)
        if asked.ndim != 1 or (asked.size and asked.dtype.kind not in "iu"):
            raise UsageError(
                f"among: {asked.dtype} of shape {asked.shape}; give article rows, whole numbers in one dimension "
                "(np.flatnonzero of a mask)"
            )
        if asked.size and not 0 <= (least := int(asked.min())) <= (most := int(asked.max())) < n_articles:
            wrong = least if least < 0 else most
            raise UsageError(
                f"among: row {wrong}, but there are {n_articles} articles; give rows 0 to {n_articles - 1}"
            )
        mask = np.zeros(n_articles, dtype=bool)
        mask[asked.astype(np.int64)] = True
        return cls.of_mask(mask)

    @classmethod
    def of_mask(cls, mask: np.ndarray, where: Where | None = None) -> AllowedRows:
        """Return the rows at which `mask` (articles,) bool is true: those that meet `where`, if it is given."""
        return cls(np.flatnonzero(mask), len(mask), where)

    @cached_property
    def mask(self) -> np.ndarray:
        """Return which articles are allowed, (articles,) bool."""
        mask = np.zeros(self.n_articles, dtype=bool)
        mask[self.rows] = True
        return mask

    def __len__(self) -> int:
        return len(self.rows)

    def __and__(self, other: AllowedRows | None) -> AllowedRows:
        """Return the rows that are in both; None means all rows."""
        if other is None:
            return self
        where = None if self.where is None or other.where is None else self.where & other.where
        return AllowedRows.of_mask(self.mask & other.mask, where)


def placed_rows(tree: Tree, codes: Sequence[str] = (), heading: Sequence[str] = ()) -> AllowedRows | None:
    """Return the rows of the articles in one of the codes and under the heading.

    Args:
        tree: above the articles.
        codes: titles of codes; none for all.
        heading: the path of a heading; none for all.

    Returns None where nothing is left out by name, which is quicker to search than all rows.

    Raises:
        UsageError: if a code or the heading is unknown.
    """
    if not codes and not heading:
        return None
    chosen = np.ones(len(tree.article_parents), dtype=bool)
    where = Where()
    if codes:
        code_rows = [_code_row(tree, code) for code in codes]
        chosen &= np.logical_or.reduce([tree.articles_under(row) for row in code_rows])
        where = replace(where, codes=tuple(tree.headings[row].title for row in code_rows))
    if heading:
        heading_row = _heading_row(tree, tuple(heading))
        chosen &= tree.articles_under(heading_row)
        where = replace(where, heading=tree.headings[heading_row].path)
    return AllowedRows.of_mask(chosen, where)


def _row_of(tree: Tree, path: tuple[str, ...]) -> int | None:
    """Return the row of a heading, by its titles as they are spelt or as `normal_heading` spells them."""
    if path in tree.heading_rows:
        return tree.heading_rows[path]
    plain = tuple(map(normal_heading, path))
    return next((row for known, row in tree.heading_rows.items() if tuple(map(normal_heading, known)) == plain), None)


def _code_row(tree: Tree, code: str) -> int:
    row = _row_of(tree, (code,))
    if row is None:
        known = [tree.headings[code_row].title for code_row in tree.codes]
        more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
        raise UsageError(f"code '{code}': not among the articles; choose from {', '.join(known[:MAX_NAMED])}{more}")
    return row


def _heading_row(tree: Tree, path: tuple[str, ...]) -> int:
    row = _row_of(tree, path)
    if row is None:
        last = path[-1].casefold()
        same = [known for known in tree.heading_rows if known[-1].casefold() == last]
        longer = [known for known in tree.heading_rows if known[-1].casefold().startswith(last)]  # by "Book II"
        near = [" > ".join(known) for known in same or longer][:MAX_NEAR]
        remedy = f"did you mean {' or '.join(map(repr, near))}?" if near else "name one from its code down"
        raise UsageError(f"heading '{' > '.join(path)}': no article is under it; {remedy}")
    return row
