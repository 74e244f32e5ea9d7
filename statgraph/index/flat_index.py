"""The exact index: all vectors as float32, each compared with the query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.device_search import Search, exact_search_on
from statgraph.index.index_files import read_faiss, vectors_view, write_faiss


class FlatIndex:
    """Exact search by inner product, on the device that `exact_search_on` finds; a `faiss.IndexFlatIP` on disk.

    Vectors read from a folder stay on disk until the first search brings them into memory: building another index of
    them reads them tile by tile.
    """

    kind = "flat"
    in_memory = True

    def __init__(self, vectors: np.ndarray, device: str, *, mapped: bool = False):
        self.vectors = vectors
        self.width = vectors.shape[1]
        self.config = IndexConfig(kind=self.kind)
        self._device = device
        self._mapped = mapped

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> FlatIndex:
        """Return the index of a copy of `vectors` (articles, width); it has no settings."""
        return cls(np.array(vectors, dtype=np.float32, order="C"), device)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the index that `write` left in a folder."""
        return cls(vectors_view(read_faiss(folder, "IndexFlatIP", mapped=True)), device, mapped=True)

    @classmethod
    def of_hnsw(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the vectors of a folder of the former kind hnsw, which held them with up to one more component.

        Raises:
            RunError: if the file is missing or damaged.
        """
        import faiss

        graph = read_faiss(folder, "IndexHNSWFlat")
        held = vectors_view(faiss.downcast_index(graph.storage), graph)
        return cls(np.array(held[:, : int(manifest.get("width", graph.d))]), device)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss`; return the index's own manifest entries: none."""
        import faiss

        flat = faiss.IndexFlatIP(self.width)
        flat.add(np.ascontiguousarray(self.vectors))
        write_faiss(flat, folder)
        return {}

    def __len__(self) -> int:
        return len(self.vectors)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row."""
        return self._search(queries, k, allowed)

    @cached_property
    def _search(self) -> Search:
        if self._mapped:
            self.vectors = np.array(self.vectors)
        return exact_search_on(self._device, self.vectors)
