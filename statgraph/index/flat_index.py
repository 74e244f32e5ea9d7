"""The exact index: every vector in memory as float32, every one compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.index.engines import pick_engine
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss
from statgraph.index.rankings import best_by_row


class FlatIndex:
    """Exact search by inner product in a `faiss.IndexFlatIP`, on the device that `pick_engine` finds."""

    kind = "flat"
    in_memory = True

    def __init__(self, flat, device: str):
        self._flat = flat  # in main memory: what holds the vectors, whichever engine searches
        self._device = device

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> FlatIndex:
        """Return the index of `vectors` (articles, width); it has no settings."""
        import faiss

        flat = faiss.IndexFlatIP(vectors.shape[1])
        flat.add(np.ascontiguousarray(vectors, dtype=np.float32))
        return cls(flat, device)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> FlatIndex:
        """Return the index that `write` left in a folder."""
        return cls(read_faiss(folder, "IndexFlatIP"), device)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss`; return what the manifest says of it: nothing more."""
        write_faiss(self._flat, folder)
        return {}

    @property
    def config(self) -> IndexConfig:
        """Return the configuration of this kind with these settings."""
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

    def search(self, queries: np.ndarray, k: int, among: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row.

        `among`: as in `VectorIndex`.
        """
        n_left = len(self) if among is None else len(among)
        return best_by_row(lambda asked, depth: self._engine.search(asked, depth, among), queries, n_left, k)

    @cached_property
    def _engine(self):
        return pick_engine(self._flat, self._device)
