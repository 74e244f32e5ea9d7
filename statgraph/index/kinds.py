"""The kinds of index: name -> class. What a manifest names, and `statgraph index --kind` offers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.flat_index import FlatIndex
from statgraph.index.hnsw_index import HnswIndex
from statgraph.index.ivf_pq_index import IvfPqIndex


class VectorIndex(Protocol):
    """Holds article vectors and searches among them by inner product.

    Attributes:
        kind: the name in `KINDS`.
        in_memory: whether a search has all vectors in memory, so that reading an index can check them all.
        width: the number of components of a vector.
        vectors: (articles, width) float32 or float16: a view, or a file on disk.
        config: the configuration of this kind with its settings.
    """

    kind: str
    in_memory: bool
    width: int
    vectors: np.ndarray
    config: IndexConfig

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> VectorIndex:
        """Return the index of `vectors` (articles, width) float32 or float16, which may be memory-mapped."""

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> VectorIndex:
        """Return the index that `write` left in a folder."""

    def write(self, folder: Path) -> dict[str, object]:
        """Write its files to an empty folder; return its own entries of the manifest."""

    def __len__(self) -> int:
        """Return the number of articles."""

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row.

        `allowed` is the article rows to search, at least one; None is all. `k` is at most their number.
        """


KINDS: dict[str, type[VectorIndex]] = {kind.kind: kind for kind in (FlatIndex, HnswIndex, IvfPqIndex)}
