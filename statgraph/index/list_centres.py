"""The nearest centres of an index's lists: few enough that every question is compared with each."""

from __future__ import annotations

import numpy as np

from statgraph.index.products import products_by_row
from statgraph.index.rankings import ties_by_row

_BLOCK_PRODUCTS = 1 << 20  # of questions and centres at a time: 20 MiB with their rows and keys


class ListCentres:
    """Exact search by inner product among the centres, (lists, width) float32.

    Each pair is compared by itself, so that a question reads the same lists alone and among others.
    """

    def __init__(self, centres: np.ndarray):
        self._centres = np.require(centres, dtype=np.float32, requirements="CA")

    def search(self, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, list numbers int64), each (queries, depth), best first, ties by number."""
        scores = np.empty((len(queries), depth), dtype=np.float32)
        numbers = np.empty((len(queries), depth), dtype=np.int64)
        n_block = max(1, _BLOCK_PRODUCTS // len(self._centres))
        for start in range(0, len(queries), n_block):
            block = slice(start, start + n_block)
            asked = queries[block]
            every = np.tile(np.arange(len(self._centres)), (len(asked), 1))  # (queries, lists)
            scores[block], numbers[block] = ties_by_row(products_by_row(asked, self._centres, every), every, depth)
        return scores, numbers
