"""Engines of exact search: FAISS on a GPU, torch where only torch sees the GPU, otherwise the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.device import pick_device, surely_cpu
from statgraph.index.exact_search import exact_search
from statgraph.index.index_files import vectors_view
from statgraph.index.rankings import best_by_row

_GPU_MAX_DEPTH = 2048  # the deepest ranking that FAISS's GPU kernels select
_TILE_SCORES = 1 << 28  # float32 scores of a tile of queries against all articles: 1 GiB


class Engine(Protocol):
    """Searches the vectors of the `faiss.IndexFlatIP` that it was made with."""

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row.

        `queries` is (queries, width) float32; `allowed` the rows to search, None for all; `k` at most their number.
        """


def pick_engine(flat, device: str) -> Engine:
    """Return the engine that searches a `faiss.IndexFlatIP` on a device (`auto`, `cpu` or `cuda`).

    Raises:
        UsageError: if the device is unknown, or `cuda` is asked for where there is none.
    """
    if device in ("auto", "cuda") and faiss_has_gpu():
        return FaissGpu(flat)
    if surely_cpu(device):  # avoids importing torch
        return CpuEngine(flat)
    picked = pick_device(device)
    return TorchEngine(flat, picked) if picked.type == "cuda" else CpuEngine(flat)


def faiss_has_gpu() -> bool:
    """Return whether the installed FAISS is a GPU build that sees a GPU."""
    import faiss

    return hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0


class CpuEngine:
    """`exact_search` over the index's own memory."""

    def __init__(self, flat):
        self._vectors = vectors_view(flat)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, rows) as in `Engine`."""
        return exact_search(self._vectors, queries, k, allowed)


class FaissGpu:
    """FAISS's exact search on the first GPU.

    Rankings too deep for its kernels, and those limited to some rows, are computed on the CPU.
    """

    def __init__(self, flat):
        import faiss

        self._cpu = CpuEngine(flat)
        self._resources = faiss.StandardGpuResources()  # must outlive the index that uses it
        self._gpu = faiss.index_cpu_to_gpu(self._resources, 0, flat)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, rows) as in `Engine`."""
        if allowed is None and k < _GPU_MAX_DEPTH:
            return best_by_row(self._search, queries, self._gpu.ntotal, k)
        return self._cpu.search(queries, k, allowed)

    def _search(self, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        engine = self._gpu if depth <= _GPU_MAX_DEPTH else self._cpu
        return engine.search(queries, depth)


class TorchEngine:
    """Exact search by matrix product and `topk` on a torch device; the vectors are copied there once."""

    def __init__(self, flat, device):
        import torch

        self._vectors = torch.from_numpy(vectors_view(flat).copy()).to(device)  # (articles, width)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, rows) as in `Engine`."""
        import torch

        if allowed is None:
            return best_by_row(lambda asked, depth: _topk(asked, depth, self._vectors), queries, len(self._vectors), k)
        vectors = self._vectors[torch.from_numpy(allowed.rows).to(self._vectors.device)]  # (rows, width)
        scores, places = best_by_row(lambda asked, depth: _topk(asked, depth, vectors), queries, len(vectors), k)
        return scores, allowed.rows[places]


def _topk(queries: np.ndarray, depth: int, vectors) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores float32, places int64), each (queries, depth), best first, ties in any order."""
    import torch

    scores = np.empty((len(queries), depth), dtype=np.float32)
    places = np.empty((len(queries), depth), dtype=np.int64)
    n_queries = max(1, _TILE_SCORES // len(vectors))
    with torch.no_grad(), _full_precision():
        for start in range(0, len(queries), n_queries):
            tile = slice(start, start + n_queries)
            asked = torch.tensor(queries[tile], device=vectors.device)
            best = torch.topk(asked @ vectors.T, depth, dim=1)  # (tile, depth)
            scores[tile], places[tile] = best.values.cpu().numpy(), best.indices.cpu().numpy()
    return scores, places


@contextmanager
def _full_precision() -> Iterator[None]:
    """Multiply float32 as float32, whatever training has allowed (TF32 keeps 10 of 23 bits)."""
    import torch

    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(precision)
