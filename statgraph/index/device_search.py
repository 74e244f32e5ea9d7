"""Exact search on a device: FAISS on a GPU, torch where only torch sees the GPU, otherwise the CPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.device import pick_device, surely_cpu
from statgraph.index.exact_search import exact_search
from statgraph.index.rankings import best_by_row

# (queries (queries, width) float32, k, allowed rows or None for all) -> (scores float32, article rows int64), each
# (queries, k), best first, ties by row; k is at most the number of rows searched.
Search = Callable[[np.ndarray, int, AllowedRows | None], tuple[np.ndarray, np.ndarray]]

_GPU_MAX_DEPTH = 2048  # the deepest ranking that FAISS's GPU kernels select
_TILE_SCORES = 1 << 28  # float32 scores of a tile of queries against all articles: 1 GiB


def exact_search_on(device: str, vectors: np.ndarray) -> Search:
    """Return the exact search of vectors (articles, width) float32 on a device (`auto`, `cpu` or `cuda`).

    Raises:
        UsageError: if the device is unknown, or `cuda` is asked for where there is none.
    """
    if device in ("auto", "cuda") and faiss_has_gpu():
        return FaissGpuSearch(vectors).search
    if not surely_cpu(device) and (picked := pick_device(device)).type == "cuda":  # avoids importing torch for the CPU
        return TorchSearch(vectors, picked).search
    return partial(exact_search, vectors)


def faiss_has_gpu() -> bool:
    """Return whether the installed FAISS is a GPU build that sees a GPU."""
    import faiss

    return hasattr(faiss, "StandardGpuResources") and faiss.get_num_gpus() > 0


class FaissGpuSearch:
    """FAISS's exact search on the first GPU.

    Rankings too deep for its kernels, and those limited to some rows, are computed on the CPU.
    """

    def __init__(self, vectors: np.ndarray):
        import faiss

        self._vectors = vectors
        self._resources = faiss.StandardGpuResources()  # must outlive the index that uses it
        flat = faiss.IndexFlatIP(vectors.shape[1])
        flat.add(vectors)
        self._index = faiss.index_cpu_to_gpu(self._resources, 0, flat)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, rows) as `Search` does."""
        if allowed is None and k < _GPU_MAX_DEPTH:
            return best_by_row(self._search, queries, len(self._vectors), k)
        return exact_search(self._vectors, queries, k, allowed)

    def _search(self, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
        if depth > _GPU_MAX_DEPTH:
            return exact_search(self._vectors, queries, depth)
        return self._index.search(queries, depth)


class TorchSearch:
    """Exact search by matrix product and `topk` on a torch device; the vectors are copied there once."""

    def __init__(self, vectors: np.ndarray, device):
        import torch

        self._vectors = torch.tensor(vectors, device=device)  # (articles, width)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores, rows) as `Search` does."""
        import torch

        vectors = self._vectors
        if allowed is not None:
            vectors = vectors[torch.from_numpy(allowed.rows).to(vectors.device)]  # (rows, width)
        scores, rows = best_by_row(partial(_topk, vectors), queries, len(vectors), k)
        return scores, rows if allowed is None else allowed.rows[rows]


def _topk(vectors, queries: np.ndarray, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores float32, rows int64), each (queries, depth), best first, ties in any order."""
    import torch

    scores = np.empty((len(queries), depth), dtype=np.float32)
    rows = np.empty((len(queries), depth), dtype=np.int64)
    n_queries = max(1, _TILE_SCORES // len(vectors))
    with torch.no_grad(), _full_precision():
        for start in range(0, len(queries), n_queries):
            tile = slice(start, start + n_queries)
            asked = torch.tensor(queries[tile], device=vectors.device)
            best = torch.topk(asked @ vectors.T, depth, dim=1)  # (tile, depth)
            scores[tile], rows[tile] = best.values.cpu().numpy(), best.indices.cpu().numpy()
    return scores, rows


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
