"""The index of a run: the vectors of its articles, their ids, and how they are searched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph._version import __version__
from statgraph.config import IndexConfig
from statgraph.errors import RunError, UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked, check_k
from statgraph.retrieval.index.flat_index import FlatIndex
from statgraph.retrieval.index.ivf_pq_index import IvfPqIndex, chosen_index
from statgraph.retrieval.index.vectors import (
    INDEX_FILE,
    REMEDY,
    TILE_ROWS,
    are_unit_length,
    check_ids,
    check_vectors,
    existing,
    float32_tiles,
    inner_products,
    vector_lengths,
)
from statgraph.retrieval.lexical.bm25 import best_rows

IDS_FILE = "ids.json"
UNIT_METRIC, METRIC = "inner product of unit vectors", "inner product"
KINDS: Mapping[str, type[FlatIndex] | type[IvfPqIndex]] = {FlatIndex.kind: FlatIndex, IvfPqIndex.kind: IvfPqIndex}


class ArticleIndex:
    """Search by inner product, made by `build` or `load`: exact if its kind is flat.

    A kind finds candidates (`candidates`, at least as many as are asked for) and holds the vectors (`vectors`, `take`);
    the candidates are ranked here, each by the product with its own vector. `reads_all`: whether a search reads all
    vectors, so that loading can check them.

    Attributes:
        article_ids: the id of each article row.
        kind: flat or ivf-pq.
        width: components of a vector.
        precision: float32, or float16 where the vectors were rounded to it.
    """

    def __init__(self, index: FlatIndex | IvfPqIndex, article_ids: Sequence[str]):
        self._index = index
        self.article_ids = tuple(article_ids)
        self.kind, self.width, self.precision = index.kind, index.width, index.precision

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
            device: `auto`, `cpu` or `cuda`: where a flat index computes; the other kind searches on the CPU.
            unit_length: whether each vector must have length 1, as for cosine similarity.
            config: the kind and its settings, or None for the defaults.

        Raises:
            RunError: if the counts differ, an id appears twice, or a vector is not finite or has the wrong length.
            UsageError: if a setting is out of range.
        """
        vectors = np.asanyarray(vectors)
        if vectors.dtype not in (np.float32, np.float16):
            vectors = vectors.astype(np.float32)
        if vectors.ndim != 2 or not vectors.size:
            raise RunError(f"index: vectors must be (articles, width), at least one of each (got {vectors.shape})")
        check_vectors("index", float32_tiles(vectors), article_ids, unit_length=unit_length)
        chosen = chosen_index(config or IndexConfig(), *vectors.shape)
        return cls(KINDS[chosen.kind].build(vectors, chosen, device=device), article_ids)

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> ArticleIndex:
        """Return the index that `save` left in a folder.

        Raises:
            RunError: if a file is missing or damaged, or the files do not belong together.
        """
        folder = Path(folder)
        article_ids = read_article_ids(folder)
        manifest = artifacts.read_object(existing(folder / artifacts.MANIFEST), remedy=REMEDY)
        kind = manifest.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise RunError(
                f"{folder / artifacts.MANIFEST}: kind '{kind}' is not supported by this version, which has "
                f"{', '.join(KINDS)}; {REMEDY}"
            )
        index = cls(KINDS[kind].read(folder, manifest, device=device), article_ids)
        if (manifest.get("articles"), manifest.get("width")) != (len(index), index.width):
            raise RunError(
                f"{folder / INDEX_FILE}: {len(index)} vectors of width {index.width}, but {artifacts.MANIFEST} has "
                f"{manifest.get('articles')} of width {manifest.get('width')}; {REMEDY}"
            )
        if index._index.reads_all:
            check_vectors(str(folder), index.tiles(), article_ids, unit_length=manifest.get("metric") != METRIC)
        else:  # number, width and precision were checked
            check_ids(str(folder), len(index), article_ids)
        return index

    def save(self, folder: Path) -> None:
        """Write the index to a folder, whole or not at all: what its kind writes, `ids.json`, `manifest.json`."""
        import faiss

        with artifacts.replaced_folder(Path(folder)) as staging:
            own_entries = self._index.write(staging)
            artifacts.write_json(staging / IDS_FILE, {"article_ids": list(self.article_ids)})
            manifest = {
                "kind": self.kind,
                "articles": len(self),
                "width": self.width,
                "metric": UNIT_METRIC if are_unit_length(vector_lengths(self.tiles())).all() else METRIC,
                "versions": {"statgraph": __version__, "faiss": faiss.__version__},
                **own_entries,
            }
            artifacts.write_json(staging / artifacts.MANIFEST, manifest)

    def rebuilt(self, config: IndexConfig) -> ArticleIndex:
        """Return an index of the same vectors and ids of another kind, on the CPU; the vectors are not checked again.

        Raises:
            RunError: if there are too few articles for the kind.
            UsageError: if a setting is out of range.
        """
        chosen = chosen_index(config, len(self), self.width)
        return ArticleIndex(KINDS[chosen.kind].build(self._index.vectors, chosen, device="cpu"), self.article_ids)

    def renewed(self, vectors: np.ndarray, article_ids: Sequence[str], *, unit_length: bool = True) -> ArticleIndex:
        """Return an index of other vectors and ids on the CPU, of this one's kind and settings; else as in `build`.

        An approximate kind learns its lists and codes again, so that the result is what `build` gives.
        """
        config = self._index.config
        lists = min(config.ivf_pq.lists, len(article_ids))
        config = replace(config, ivf_pq=replace(config.ivf_pq, lists=lists))
        return ArticleIndex.build(vectors, article_ids, device="cpu", unit_length=unit_length, config=config)

    def __len__(self) -> int:
        return len(self._index)

    @property
    def vectors(self) -> np.ndarray:
        """Return a copy of the articles' vectors, (articles, width) float32."""
        return np.array(self._index.vectors, dtype=np.float32)

    def tiles(self) -> Iterator[tuple[int, np.ndarray]]:
        """Yield (first row, vectors (rows, width) float32) of all articles, a part at a time."""
        for start in range(0, len(self), TILE_ROWS):
            yield start, self._index.take(np.arange(start, min(start + TILE_ROWS, len(self))))

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` articles for each query, or all if fewer, best first, ties by row.

        An approximate kind may miss some, but none of a few thousand allowed rows at most; what it returns has the
        score of its vector. A question has the same scores alone and in a batch.

        Args:
            queries: (queries, width) float32.
            k: how many articles to find for each.
            allowed: the article rows to search, or None for all.

        Raises:
            UsageError: if `k` is below 1, or `allowed` is of another number of articles.
            RunError: if the queries have another width or are not finite, or a vector on disk is damaged.
        """
        k = check_k(k)
        queries = np.ascontiguousarray(queries, dtype=np.float32)
        if queries.ndim != 2 or queries.shape[1] != self.width:
            raise RunError(
                f"queries: shape {queries.shape}, but the index holds vectors of width {self.width}; "
                "encode them with the query encoder of the same run, (queries, width)"
            )
        if not np.isfinite(queries).all():
            raise RunError("queries: a vector holds a value that is not finite; train the run's query encoder again")
        if allowed is not None and allowed.n_articles != len(self):
            raise UsageError(f"allowed rows of {allowed.n_articles} articles, but the index holds {len(self)}")
        if allowed is not None and len(allowed) == len(self):
            allowed = None
        k = min(k, len(self) if allowed is None else len(allowed))
        if not k or not len(queries):
            return [Ranked(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)) for _ in queries]
        candidates = self._index.candidates(queries, k, allowed)
        return [self._best_of(query, np.sort(rows), k) for query, rows in zip(queries, candidates, strict=True)]

    def _best_of(self, query: np.ndarray, rows: np.ndarray, k: int) -> Ranked:
        """Return the best `k` of some rows, which ascend, best first, ties by row."""
        scores = self.scores(query, rows)
        best = best_rows(scores, k)
        return Ranked(rows[best], scores[best])

    def scores(self, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the scores that `search` gives a query (width,) and some articles, (rows,) float32; RunError if a
        vector, which may be on disk, is not finite."""
        products = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), TILE_ROWS):
            some = slice(start, start + TILE_ROWS)
            products[some] = inner_products(self._index.take(rows[some]), query)
        return products


def read_article_ids(folder: Path) -> list[str]:
    """Return the ids of an index's rows, without its vectors.

    Raises:
        RunError: if the folder or the file is missing or damaged.
    """
    if not folder.is_dir():
        raise RunError(f"{folder}: no such index folder; {REMEDY}")
    article_ids = artifacts.read_object(existing(folder / IDS_FILE), remedy=REMEDY).get("article_ids")
    if not isinstance(article_ids, list) or not all(isinstance(each, str) for each in article_ids):
        raise RunError(f"{folder / IDS_FILE}: damaged (no list of strings 'article_ids'); {REMEDY}")
    return article_ids
