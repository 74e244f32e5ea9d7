"""The article rows that a search may return, checked once and passed on as one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph.corpus.where import Where
from statgraph.errors import UsageError


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

    @cached_property
    def key(self) -> bytes:
        """Return a key that is equal for equal rows."""
        return self.rows.tobytes()

    def __len__(self) -> int:
        return len(self.rows)

    def __and__(self, other: AllowedRows | None) -> AllowedRows:
        """Return the rows that are in both; None means all rows."""
        if other is None:
            return self
        both_known = self.where is not None and other.where is not None
        return AllowedRows.of_mask(self.mask & other.mask, self.where & other.where if both_known else None)
