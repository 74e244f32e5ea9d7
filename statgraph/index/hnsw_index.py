"""The index that walks a graph of near neighbours: all vectors in memory, few of them compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from statgraph.config import HnswConfig, IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.blocks import float32_blocks
from statgraph.index.equal_length import EqualLength
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss
from statgraph.index.manifest import read_entries
from statgraph.index.mapped_vectors import best
from statgraph.index.rankings import short_rankings, ties_by_row
from statgraph.index.row_selection import COMPARED_MOST, row_selector, widened

_COMPARED_SHARE = 16  # a walk that is to meet one article in so many takes longer than comparing these


class HnswIndex:
    """Approximate search in a `faiss.IndexHNSWFlat` (Malkov and Yashunin, 2018), on the CPU.

    It may miss articles; the scores of those it finds are exact. Where the walk finds fewer than were asked for, that
    query is searched exactly.
    """

    kind = "hnsw"
    in_memory = True

    def __init__(self, graph, form: EqualLength, config: HnswConfig):
        import faiss

        self._graph = graph
        self._flat = faiss.downcast_index(graph.storage)
        self._form = form
        self._config = config

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> HnswIndex:
        """Return the index of `vectors` (articles, width); `config` is one that `chosen_index` returned."""
        import faiss

        form = EqualLength.of(vectors)
        graph = faiss.IndexHNSWFlat(form.held_width, config.hnsw.links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = config.hnsw.build_breadth
        for _, block in float32_blocks(vectors):
            graph.add(form.held(block))
        return cls(graph, form, config.hnsw)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> HnswIndex:
        """Return the index that `write` left in a folder.

        Raises:
            RunError: if a file is missing or damaged, or does not fit the manifest.
        """
        graph = read_faiss(folder, "IndexHNSWFlat")
        form, config = read_entries(folder, manifest, HnswConfig, held_width=graph.d)
        return cls(graph, form, config)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss`; return what the manifest says of it."""
        write_faiss(self._graph, folder)
        return {"held": asdict(self._form), "settings": asdict(self._config)}

    @property
    def config(self) -> IndexConfig:
        """Return the configuration of this kind with these settings."""
        return IndexConfig(kind=self.kind, hnsw=self._config)

    def __len__(self) -> int:
        return self._graph.ntotal

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._form.width

    @property
    def vectors(self) -> np.ndarray:
        """Return the vectors, (articles, width) float32, not copied."""
        return vectors_view(self._flat, self._graph)[:, : self.width]

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first of those found, ties by row.

        `allowed`: as in `VectorIndex`. Of few articles each is compared; of more the walk is the broader, the fewer
        there are.
        """
        import faiss

        if allowed is not None and len(allowed) <= max(COMPARED_MOST, len(self) // _COMPARED_SHARE):
            return best(self.vectors, queries, k, allowed)
        breadth, selector = max(self._config.search_breadth, k), None
        if allowed is not None:
            breadth, selector = widened(breadth, allowed, len(self)), row_selector(allowed)
        parameters = faiss.SearchParametersHNSW(efSearch=breadth, sel=selector)
        scores, rows = self._graph.search(self._form.asked(queries), k, params=parameters)  # (queries, k)
        short = short_rankings(rows, k)
        if len(short):
            scores[short], rows[short] = best(self.vectors, queries[short], k, allowed)
        return ties_by_row(scores, rows)
