"""Exact search by FAISS."""

from __future__ import annotations

import numpy as np

from statgraph.index.row_selection import row_selector

# From 20 questions on FAISS multiplies blocks by BLAS, which took its wheel many times as long as comparing vector by
# vector, and gave a question other last bits than it has alone.
_AT_ONCE = 16
# The deepest ranking that FAISS's GPU kernels select.
_GPU_MAX_DEPTH = 2048


class FaissCpu:
    """FAISS's exact search on the CPU; a question has the same scores, to the last bit, alone and among others."""

    def __init__(self, flat):
        self._flat = flat

    def search(self, queries: np.ndarray, depth: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first."""
        import faiss

        parameters = None if among is None else faiss.SearchParameters(sel=row_selector(among))
        scores = np.empty((len(queries), depth), dtype=np.float32)
        rows = np.empty((len(queries), depth), dtype=np.int64)
        for start in range(0, len(queries), _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            scores[block], rows[block] = self._flat.search(queries[block], depth, params=parameters)
        return scores, rows


class FaissGpu:
    """FAISS's exact search on the first GPU.

    Rankings too deep for its kernels, and those among some of the articles, are computed on the CPU.
    """

    def __init__(self, flat):
        import faiss

        self._cpu = FaissCpu(flat)
        self._resources = faiss.StandardGpuResources()  # must outlive the index that uses it
        self._gpu = faiss.index_cpu_to_gpu(self._resources, 0, flat)

    def search(self, queries: np.ndarray, depth: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first."""
        if among is None and depth <= _GPU_MAX_DEPTH:
            return self._gpu.search(queries, depth)
        return self._cpu.search(queries, depth, among)
