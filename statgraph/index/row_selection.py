"""How FAISS searches among some of the articles, and when it is better to compare each of these."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows

# Reading and comparing this many vectors of 384 takes some milliseconds, as a walk or a search of lists does.
COMPARED_MOST = 16_384


def row_selector(allowed: AllowedRows):
    """Return the `faiss.IDSelector` of the allowed rows, at least one."""
    import faiss

    chosen = np.zeros(int(allowed.rows[-1]) + 1, dtype=bool)
    chosen[allowed.rows] = True
    return faiss.IDSelectorBitmap(np.packbits(chosen, bitorder="little"))


def widened(effort: int, allowed: AllowedRows, n_articles: int) -> int:
    """Return the effort (candidates, probes) that meets as many of the chosen articles as `effort` meets of all."""
    return -(-effort * n_articles // len(allowed))
