"""The articles that a search is limited to, named by their rows."""

from __future__ import annotations

import numpy as np

from statgraph.errors import UsageError


def checked_among(among: np.ndarray, n_articles: int) -> np.ndarray:
    """Return article rows (rows,) int64, rising, each once.

    Args:
        among: whole numbers of any order, which may stand twice; none is a limit too.
        n_articles: of which they are rows.

    Raises:
        UsageError: if it is no list of whole numbers, such as a mask, or holds one that is no row.
    """
    rows = np.asarray(among)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise UsageError(
            f"among: {rows.dtype} of shape {rows.shape}; give article rows, whole numbers in one dimension "
            "(np.flatnonzero of a mask)"
        )
    rows = np.unique(rows.astype(np.int64))
    if len(rows) and not 0 <= rows[0] <= rows[-1] < n_articles:
        wrong = rows[0] if rows[0] < 0 else rows[-1]
        raise UsageError(f"among: row {wrong}, but there are {n_articles} articles; give rows 0 to {n_articles - 1}")
    return rows
