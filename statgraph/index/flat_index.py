"""The exact index: all vectors as float32, each compared with the query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.engines import Engine, pick_engine
from statgraph.index.index_files import read_faiss, vectors_view, write_faiss


class FlatIndex:
    """Exact search by inner product in a `faiss.IndexFlatIP`, on the device that `pick_engine` finds.

    Vectors read from a folder stay on disk until the first search brings them into memory: building another index of
    them reads them tile by tile.
    """

    kind = "flat"
    in_memory = True

    def __init__(self, flat, device: str, *, mapped: bool = False):
        self._flat = flat  # what holds the vectors, whichever engine searches
        self._device = device
        self._mapped = mapped

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> FlatIndex:
        """Return the index of `vectors` (articles, width); it has no settings."""
        return cls(_in_memory(vectors), device)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the index that `write` left in a folder."""
        return cls(read_faiss(folder, "IndexFlatIP", mapped=True), device, mapped=True)

    @classmethod
    def of_hnsw(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the vectors of a folder of the former kind hnsw, whose graph held them with up to one component more.

        Raises:
            RunError: if the file is missing or damaged.
        """
        import faiss

        graph = read_faiss(folder, "IndexHNSWFlat")
        held = vectors_view(faiss.downcast_index(graph.storage), graph)
        return cls(_in_memory(held[:, : int(manifest.get("width", graph.d))]), device)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss`; return the index's own manifest entries: none."""
        write_faiss(self._flat, folder)
        return {}

    @property
    def config(self) -> IndexConfig:
        """Return the configuration of this kind."""
        return IndexConfig(kind=self.kind)

    def __len__(self) -> int:
        return self._flat.ntotal

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._flat.d

    @property
    def vectors(self) -> np.ndarray:
        """Return the vectors, (articles, width) float32, not copied."""
        return vectors_view(self._flat)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row."""
        return self._engine.search(queries, k, allowed)

    @cached_property
    def _engine(self) -> Engine:
        if self._mapped:
            self._flat = _in_memory(self.vectors)
        return pick_engine(self._flat, self._device)


def _in_memory(vectors: np.ndarray):
    """Return a `faiss.IndexFlatIP` of vectors (articles, width), which it copies."""
    import faiss

    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return flat
