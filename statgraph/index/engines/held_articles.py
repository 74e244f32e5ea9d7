"""Articles in memory: an index with the columns that filters ask for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.index.article_index import ArticleIndex
from statgraph.index.engines.contract import Columns, Ranking

_INDEX, _PATHS, _COLUMNS = "index", "paths.json", "columns.npy"
_KEPT_CONDITIONS = 32  # readers browse: the same conditions come many times


class HeldArticles:
    """An `ArticleIndex` and, by its rows, the columns: each article's headings by number, and its days in force.

    Attributes:
        index: the vectors and ids.
    """

    def __init__(self, index: ArticleIndex, paths: Sequence[tuple[str, ...]], numbers: np.ndarray, days: np.ndarray):
        self.index = index
        self._paths = paths
        self._numbers = numbers  # (articles,)
        self._days = days  # (articles, 2)
        self._allowed = lru_cache(_KEPT_CONDITIONS)(self._rows_met)

    @classmethod
    def of(
        cls, ids: Sequence[str], vectors: np.ndarray, columns: Columns, config: IndexConfig | None = None
    ) -> HeldArticles:
        """Return articles with vectors (articles, width), indexed as `config` says.

        Raises:
            RunError: as `ArticleIndex.build`.
        """
        index = ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=config)
        numbers: dict[tuple[str, ...], int] = {}
        by_row = [numbers.setdefault(tuple(path), len(numbers)) for path in columns.paths]
        return cls(index, list(numbers), np.array(by_row, dtype=np.int32), np.asarray(columns.days, dtype=np.int32))

    @classmethod
    def read(cls, folder: Path, *, remedy: str) -> HeldArticles:
        """Return what `write` left in a folder.

        Raises:
            RunError: if a file is missing or damaged; the message ends with the remedy.
        """
        index = ArticleIndex.load(folder / _INDEX, device="cpu")
        paths = artifacts.read_object(folder / _PATHS, remedy=remedy).get("paths", [])
        columns = artifacts.read_array(folder / _COLUMNS, (len(index), 3), "int32", remedy=remedy)
        return cls(index, [tuple(path) for path in paths], columns[:, 0], columns[:, 1:])

    def write(self, folder: Path) -> None:
        """Write the index as a run has it, and the columns beside."""
        self.index.save(folder / _INDEX)
        artifacts.write_json(folder / _PATHS, {"paths": self._paths})
        np.save(folder / _COLUMNS, np.column_stack([self._numbers, self._days]).astype(np.int32), allow_pickle=False)

    def count(self, where: Where) -> int:
        """Return how many articles meet a condition."""
        allowed = self._allowed(where)
        return len(self.index) if allowed is None else len(allowed)

    def search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]:
        """Return the best `k` articles for each vector, as `IndexEngine.search` does."""
        ids = self.index.article_ids
        found = self.index.search(vectors, k, self._allowed(where))
        return [Ranking(tuple(ids[row] for row in rows), scores) for scores, rows in zip(*found, strict=True)]

    def vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors of those articles that are there, by id."""
        known = [article_id for article_id in ids if article_id in self._rows]
        rows = [self._rows[article_id] for article_id in known]
        return dict(zip(known, self.index.vectors_of(rows), strict=True))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {article_id: row for row, article_id in enumerate(self.index.article_ids)}

    def _rows_met(self, where: Where) -> AllowedRows | None:
        """Return the rows that meet a condition; None is all."""
        if where == ANYWHERE:
            return None
        chosen = np.ones(len(self.index), dtype=bool)
        if where.codes or where.heading:
            codes, depth = {(code,) for code in where.codes}, len(where.heading)
            under = [(not codes or path[:1] in codes) and path[:depth] == where.heading for path in self._paths]
            chosen &= np.array(under, dtype=bool)[self._numbers]
        if where.day is not None:
            chosen &= (self._days[:, 0] <= where.day) & (where.day < self._days[:, 1])
        if where.ids is not None:
            named = np.zeros(len(chosen), dtype=bool)
            named[[self._rows[article_id] for article_id in where.ids if article_id in self._rows]] = True
            chosen &= named
        return AllowedRows.of_mask(chosen)
