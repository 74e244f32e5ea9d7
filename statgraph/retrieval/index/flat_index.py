"""The exact index: all vectors as float32, each compared with the query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from statgraph.config import IndexConfig
from statgraph.device import pick_device, surely_cpu
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.vectors import INDEX_FILE, float32_tiles, read_faiss, selector_of

if TYPE_CHECKING:
    import faiss
    import torch

# Candidates beyond `k`: rounding, and ties at the cut, are decided among them by exact scores and rows.
_MARGIN = 32
_GPU_DEPTH = 2048  # the deepest ranking that FAISS's GPU kernels select
_FEW_QUERIES = 16  # up to which one thread is faster, beside those of torch or ONNX Runtime that encoded them
_TILE_SCORES = 1 << 28  # float32 scores of queries against all articles on the GPU: 1 GiB


class FlatIndex:
    """A `faiss.IndexFlatIP`, whose vectors are mapped from its file if it was read. A GPU build of FAISS that sees a
    GPU searches there, unless limited to some articles or for more than 2,048; else, where torch sees one, a product
    and `topk` there.

    Of more than 32 articles with one score at the cut of a ranking, any may be candidates.
    """

    kind = "flat"
    reads_all = True
    precision = "float32"
    config = IndexConfig(kind="flat")

    def __init__(self, flat: faiss.IndexFlatIP, device: str):
        self.width = flat.d
        self._flat = flat
        self._device = device
        self._one_search = Lock()  # FAISS's indexes on a GPU take no two at a time

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> FlatIndex:
        """Return the index of a copy of `vectors` (articles, width); it has no settings."""
        import faiss

        flat = faiss.IndexFlatIP(vectors.shape[1])
        for _, tile in float32_tiles(vectors):
            flat.add(tile)
        return cls(flat, device)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the index that `write` left in a folder; RunError if the file is missing or damaged."""
        import faiss

        return cls(read_faiss(folder, faiss.IndexFlatIP, mapped=True), device)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss`; return the index's own manifest entries: none."""
        import faiss

        faiss.write_index(self._flat, str(folder / INDEX_FILE))
        return {}

    def __len__(self) -> int:
        return int(self._flat.ntotal)

    @property
    def vectors(self) -> np.ndarray:
        """Return a copy of the vectors, (articles, width) float32."""
        return self._view.copy()

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of some rows, (rows, width) float32."""
        vectors: np.ndarray = self._view[rows]
        return vectors

    @property
    def _view(self) -> np.ndarray:
        """Return the vectors as FAISS holds them, (articles, width) float32."""
        import faiss

        vectors: np.ndarray = faiss.rev_swig_ptr(self._flat.get_xb(), len(self) * self.width)
        return vectors.reshape(len(self), self.width)

    def candidates(self, queries: np.ndarray, k: int, allowed: AllowedRows | None) -> np.ndarray:
        """Return the rows of a few articles more than the best `k` of each query, (queries, depth) int64."""
        depth = min(k + _MARGIN, len(self) if allowed is None else len(allowed))
        rows: np.ndarray
        if allowed is None and depth <= _GPU_DEPTH and self._faiss_on_gpu is not None:
            with self._one_search:
                rows = self._faiss_on_gpu.search(queries, depth)[1]
            return rows
        if self._on_gpu is not None:
            return _topk(self._on_gpu, queries, depth, allowed)
        import faiss

        selection = faiss.SearchParameters(sel=selector_of(allowed))  # type: ignore[call-arg]
        with _multiplying(len(queries)):
            rows = self._flat.search(queries, depth, params=selection)[1]
        return rows

    @cached_property
    def _faiss_on_gpu(self) -> faiss.Index | None:
        """Return FAISS's copy of the index on the first GPU, or None where FAISS has no GPU or the CPU is asked for."""
        import faiss

        if self._device == "cpu" or not faiss.get_num_gpus():  # 0 of a CPU build
            return None
        self._resources = faiss.StandardGpuResources()  # must outlive the index that uses it
        return faiss.index_cpu_to_gpu(self._resources, 0, self._flat)

    @cached_property
    def _on_gpu(self) -> torch.Tensor | None:
        """Return the vectors on the GPU, a tensor (articles, width), or None where the CPU searches."""
        if surely_cpu(self._device) or (device := pick_device(self._device)).type == "cpu":
            return None
        import torch

        return torch.from_numpy(self.vectors).to(device)


@contextmanager
def _multiplying(n_queries: int) -> Iterator[None]:
    """Let FAISS multiply several queries at once, which as delivered it begins at 128,000; few on one thread."""
    import faiss

    before, n_threads = faiss.cvar.distance_compute_blas_threshold, faiss.omp_get_max_threads()
    faiss.cvar.distance_compute_blas_threshold = 2
    if n_queries <= _FEW_QUERIES:
        faiss.omp_set_num_threads(1)  # of this thread alone
    try:
        yield
    finally:
        faiss.cvar.distance_compute_blas_threshold = before
        faiss.omp_set_num_threads(n_threads)


def _topk(vectors: torch.Tensor, queries: np.ndarray, depth: int, allowed: AllowedRows | None) -> np.ndarray:
    """Return the rows of the best `depth` allowed articles, (queries, depth) int64, of vectors on any torch device."""
    import torch

    rows = np.empty((len(queries), depth), dtype=np.int64)
    n_queries = max(1, _TILE_SCORES // len(vectors))
    excluded = None if allowed is None else torch.from_numpy(~allowed.mask).to(vectors.device)
    with torch.no_grad():
        for start in range(0, len(queries), n_queries):
            tile = slice(start, start + n_queries)
            scores = torch.tensor(queries[tile], device=vectors.device) @ vectors.T  # (tile, articles)
            if excluded is not None:
                scores.masked_fill_(excluded, -torch.inf)
            rows[tile] = torch.topk(scores, depth, dim=1).indices.cpu().numpy()
    return rows
