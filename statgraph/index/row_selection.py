"""How FAISS searches among some of the articles, and when it is better to compare each of these."""

from __future__ import annotations

import numpy as np

# Reading and comparing this many vectors of 384 takes some milliseconds, as a walk or a search of lists does.
COMPARED_MOST = 16_384


def row_selector(among: np.ndarray):
    """Return the `faiss.IDSelector` of article rows (rows,) int64, rising, at least one."""
    import faiss

    chosen = np.zeros(int(among[-1]) + 1, dtype=bool)
    chosen[among] = True
    return faiss.IDSelectorBitmap(np.packbits(chosen, bitorder="little"))


def widened(effort: int, among: np.ndarray, n_articles: int) -> int:
    """Return the effort (candidates, probes) that meets as many of the chosen articles as `effort` meets of all."""
    return -(-effort * n_articles // len(among))
