"""The exact index: every vector as float32, every one compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.engines import pick_engine
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss
from statgraph.index.rankings import best_by_row


class FlatIndex:
    """Exact search by inner product in a `faiss.IndexFlatIP`, on the device that `pick_engine` finds.

    Vectors that were read from a folder stay on disk until the first search brings them into memory: who makes another
    index of them needs them a block at a time.
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

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row.

        `allowed`: as in `VectorIndex`.
        """
        if self._engine.orders_ties:
            return self._engine.search(queries, k, allowed)
        n_left = len(self) if allowed is None else len(allowed)
        return best_by_row(lambda asked, depth: self._engine.search(asked, depth, allowed), queries, n_left, k)

    @cached_property
    def _engine(self):
        if self._mapped:
            self._flat = _in_memory(self.vectors)
        return pick_engine(self._flat, self._device)


def _in_memory(vectors: np.ndarray):
    """Return a `faiss.IndexFlatIP` of vectors (articles, width), which it copies."""
    import faiss

    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(np.ascontiguousarray(vectors, dtype=np.float32))
    return flat
