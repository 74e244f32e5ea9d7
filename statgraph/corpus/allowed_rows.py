"""The article rows that a search may return, checked once and passed on as one object."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph.errors import UsageError


@dataclass(frozen=True, eq=False)
class AllowedRows:
    """Article rows that a search is limited to; make them with `checked` or `of_mask`.

    Attributes:
        rows: (rows,) int64, ascending and unique.
        n_articles: how many articles there are.
    """

    rows: np.ndarray
    n_articles: int

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
    def of_mask(cls, mask: np.ndarray) -> AllowedRows:
        """Return the rows at which `mask` (articles,) bool is true."""
        return cls(np.flatnonzero(mask), len(mask))

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
        return self if other is None else AllowedRows.of_mask(self.mask & other.mask)
