"""The exact index: every vector in memory as float32, every one compared."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.index.engines import pick_engine
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss
from statgraph.index.rankings import ties_by_row


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

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first, ties by row."""
        # One place more than asked for shows whether a tie goes on past the cut. If so, which of the tied articles the
        # engine returned is chance: search deeper for those queries.
        depth = min(k + 1, len(self))
        scores, rows = ties_by_row(*self._engine.search(queries, depth))  # (queries, depth)
        best_scores, best_rows = scores[:, :k].copy(), rows[:, :k].copy()
        tied = np.arange(len(queries))
        while depth > k and len(tied := tied[scores[:, k - 1] == scores[:, -1]]):
            if depth == len(self):
                break
            depth = min(2 * depth, len(self))
            scores, rows = ties_by_row(*self._engine.search(queries[tied], depth))
            best_scores[tied], best_rows[tied] = scores[:, :k], rows[:, :k]
        return best_scores, best_rows

    @cached_property
    def _engine(self):
        return pick_engine(self._flat, self._device)
