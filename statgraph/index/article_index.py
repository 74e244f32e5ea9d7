"""The index of a run: the vectors of its articles, their ids, and the exact search among them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.errors import RunError, UsageError
from statgraph.index.engines import pick_engine
from statgraph.index.folder import check_vectors, read_index_folder, write_index_folder


class ArticleIndex:
    """Exact search by inner product, made by `build` or `load`.

    Attributes:
        article_ids: the id of each article row.
    """

    def __init__(self, flat, article_ids: Sequence[str], device: str):
        self._flat = flat  # faiss.IndexFlatIP in main memory: what holds the vectors, whichever engine searches
        self._device = device
        self.article_ids = tuple(article_ids)

    @classmethod
    def build(
        cls, vectors: np.ndarray, article_ids: Sequence[str], *, device: str = "auto", unit_length: bool = True
    ) -> ArticleIndex:
        """Return the index of `vectors` (articles, width) float32.

        Args:
            vectors: one for each article.
            article_ids: their ids, in the same order.
            device: `auto`, `cpu` or `cuda`: where `search` computes.
            unit_length: whether each must have length 1, as where the similarity is the cosine.

        Raises:
            RunError: if the counts differ, an id stands twice, or a vector is not finite or not as long as it must be.
        """
        import faiss

        vectors = np.ascontiguousarray(vectors, dtype=np.float32)
        if vectors.ndim != 2 or not vectors.size:
            raise RunError(f"index: vectors of shape {vectors.shape}; give (articles, width), at least one of each")
        check_vectors("index", vectors, article_ids, unit_length=unit_length)
        flat = faiss.IndexFlatIP(vectors.shape[1])
        flat.add(vectors)
        return cls(flat, article_ids, device)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ArticleIndex:
        """Return the index that `save` left in a folder.

        Raises:
            RunError: if a file is missing or damaged, or the files do not belong together.
        """
        return cls(*read_index_folder(Path(folder)), device)

    def save(self, folder: Path) -> None:
        """Write the index to a folder, whole or not at all: `index.faiss`, `ids.json`, `manifest.json`."""
        write_index_folder(Path(folder), self._flat, self.article_ids)

    def __len__(self) -> int:
        return self._flat.ntotal

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._flat.d

    @property
    def vectors(self) -> np.ndarray:
        """Return a copy of the articles' vectors, (articles, width) float32."""
        return self._flat.reconstruct_n(0, len(self))

    def search(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, min(k, articles)), best first, ties by row.

        Articles tie when their scores as computed are equal to the last bit.

        Args:
            queries: (queries, width) float32.
            k: how many articles to find for each.

        Raises:
            UsageError: if `k` is below 1.
            RunError: if the queries have another width, or are not finite.
        """
        if k < 1:
            raise UsageError(f"k = {k}: nothing to search for; ask for at least 1 article")
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self.width:
            raise RunError(
                f"queries: shape {queries.shape}, but the index holds vectors of width {self.width}; "
                "encode them with the query encoder of the same run, (queries, width)"
            )
        if not np.isfinite(queries).all():
            raise RunError("queries: a vector holds a value that is not finite; train the run's query encoder again")
        return self._best(queries, min(k, len(self)))

    @cached_property
    def _engine(self):
        return pick_engine(self._flat, self._device)

    def _best(self, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        # One place more than asked for shows whether a tie goes on past the cut. If so, which of the tied articles the
        # engine returned is chance: search deeper for those queries.
        depth = min(k + 1, len(self))
        scores, rows = _ties_by_row(*self._engine.search(queries, depth))  # (queries, depth)
        best_scores, best_rows = scores[:, :k].copy(), rows[:, :k].copy()
        tied = np.arange(len(queries))
        while depth > k and len(tied := tied[scores[:, k - 1] == scores[:, -1]]):
            if depth == len(self):
                break
            depth = min(2 * depth, len(self))
            scores, rows = _ties_by_row(*self._engine.search(queries[tied], depth))
            best_scores[tied], best_rows[tied] = scores[:, :k], rows[:, :k]
        return best_scores, best_rows


def _ties_by_row(scores: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    order = np.lexsort((rows, -scores), axis=1)
    return np.take_along_axis(scores, order, axis=1), np.take_along_axis(rows, order, axis=1)
