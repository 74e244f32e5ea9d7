"""The index of a run: the vectors of its articles, their ids, and the search among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError, UsageError
from statgraph.index.choice import chosen_index
from statgraph.index.folder import read_index_folder, write_index_folder
from statgraph.index.kinds import KINDS, VectorIndex
from statgraph.index.threads import threads_for
from statgraph.index.vector_checks import check_vectors


class ArticleIndex:
    """Search by inner product, made by `build` or `load`: exact where its kind is flat.

    Attributes:
        article_ids: the id of each article row.
    """

    def __init__(self, index: VectorIndex, article_ids: Sequence[str]):
        self._index = index
        self.article_ids = tuple(article_ids)

    @classmethod
    def build(
        cls,
        vectors: np.ndarray,
        article_ids: Sequence[str],
        *,
        device: str = "auto",
        unit_length: bool = True,
        config: IndexConfig | None = None,
    ) -> ArticleIndex:
        """Return the index of `vectors` (articles, width) float32 or float16, which may be memory-mapped.

        Args:
            vectors: one for each article.
            article_ids: their ids, in the same order.
            device: `auto`, `cpu` or `cuda`: where an exact `search` computes; the other kinds search on the CPU.
            unit_length: whether each must have length 1, as where the similarity is the cosine.
            config: the kind and its settings; without it the index is flat.

        Raises:
            RunError: if the counts differ, an id stands twice, or a vector is not finite or not as long as it must be.
            UsageError: if a setting makes no sense.
        """
        vectors = np.asanyarray(vectors)
        if vectors.dtype not in (np.float32, np.float16):
            vectors = vectors.astype(np.float32)
        if vectors.ndim != 2 or not vectors.size:
            raise RunError(f"index: vectors of shape {vectors.shape}; give (articles, width), at least one of each")
        check_vectors("index", vectors, article_ids, unit_length=unit_length)
        chosen = chosen_index(config or IndexConfig(kind="flat"), *vectors.shape)
        return cls(KINDS[chosen.kind].build(vectors, chosen, device=device), article_ids)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ArticleIndex:
        """Return the index that `save` left in a folder.

        Raises:
            RunError: if a file is missing or damaged, or the files do not belong together.
        """
        return cls(*read_index_folder(Path(folder), device=device))

    def save(self, folder: Path) -> None:
        """Write the index to a folder, whole or not at all: what its kind writes, `ids.json`, `manifest.json`."""
        write_index_folder(Path(folder), self._index, self.article_ids)

    def rebuilt(self, config: IndexConfig, *, device: str = "auto") -> ArticleIndex:
        """Return an index of the same vectors and ids of another kind; the vectors are not checked again.

        Raises:
            RunError: if there are too few articles for the kind.
            UsageError: if a setting makes no sense.
        """
        chosen = chosen_index(config, len(self), self.width)
        return ArticleIndex(KINDS[chosen.kind].build(self._index.vectors, chosen, device=device), self.article_ids)

    def renewed(
        self, vectors: np.ndarray, article_ids: Sequence[str], *, device: str = "auto", unit_length: bool = True
    ) -> ArticleIndex:
        """Return an index of other vectors and ids, of this one's kind and settings; the rest as in `build`.

        Lists and codes of an approximate kind are made anew, so that it is what `build` gives.
        """
        config = self._index.config
        lists = min(config.ivf_pq.lists, len(article_ids))
        config = replace(config, ivf_pq=replace(config.ivf_pq, lists=lists))
        return ArticleIndex.build(vectors, article_ids, device=device, unit_length=unit_length, config=config)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def kind(self) -> str:
        """Return flat, hnsw or ivf-pq."""
        return self._index.kind

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._index.width

    @property
    def precision(self) -> str:
        """Return float32, or float16 where the vectors were rounded to it."""
        return self._index.vectors.dtype.name

    @property
    def vectors(self) -> np.ndarray:
        """Return a copy of the articles' vectors, (articles, width) float32."""
        return np.array(self._index.vectors, dtype=np.float32)

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, min(k, articles)), best first, ties by row.

        Articles tie when their scores as computed are equal to the last bit. A flat index finds the best there are.
        Another kind may miss some and find lesser ones in their place; what it finds has the score of its vector and
        stands in the same order.

        Args:
            queries: (queries, width) float32.
            k: how many articles to find for each.
            allowed: the article rows to search, or None for all. A flat index finds the best of them; another kind may
                miss some, but none where there are a few thousand at most.

        Raises:
            UsageError: if `k` is below 1, or `allowed` is of another number of articles.
            RunError: if the queries have another width, or are not finite; or a vector on disk is damaged.
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
        if allowed is not None and allowed.n_articles != len(self):
            raise UsageError(f"allowed rows of {allowed.n_articles} articles; the index holds {len(self)}")
        if allowed is not None and not len(allowed):
            return np.empty((len(queries), 0), dtype=np.float32), np.empty((len(queries), 0), dtype=np.int64)
        if allowed is not None and len(allowed) == len(self):
            allowed = None
        with threads_for(len(queries)):
            return self._index.search(queries, min(k, len(self) if allowed is None else len(allowed)), allowed)
