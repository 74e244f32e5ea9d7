"""Exact search by FAISS on a GPU."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.exact_scan import ExactScan
from statgraph.index.faiss_files import vectors_view

# The deepest ranking that FAISS's GPU kernels select.
_GPU_MAX_DEPTH = 2048


class FaissGpu:
    """FAISS's exact search on the first GPU.

    Rankings too deep for its kernels, and those among some of the articles, are computed on the CPU.
    """

    orders_ties = False

    def __init__(self, flat):
        import faiss

        self._cpu = ExactScan(vectors_view(flat))
        self._resources = faiss.StandardGpuResources()  # must outlive the index that uses it
        self._gpu = faiss.index_cpu_to_gpu(self._resources, 0, flat)

    def search(
        self, queries: np.ndarray, depth: int, allowed: AllowedRows | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first."""
        if allowed is None and depth <= _GPU_MAX_DEPTH:
            return self._gpu.search(queries, depth)
        return self._cpu.search(queries, depth, allowed)
