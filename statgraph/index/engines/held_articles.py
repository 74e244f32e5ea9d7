"""Articles in memory: an index with the columns that filters ask for, and BM25 over their words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import Bm25Config, IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.index.article_index import ArticleIndex
from statgraph.index.engines.contract import Columns, Ranking
from statgraph.lexical.analysis import TERMS
from statgraph.lexical.bm25 import BM25

_INDEX, _PATHS, _COLUMNS, _WORDS = "index", "paths.json", "columns.npy", "bm25"
_KEPT_CONDITIONS = 32  # readers browse: the same conditions come many times


class HeldArticles:
    """An `ArticleIndex` and, by its rows, the columns: each article's headings by number, and its days in force.

    Attributes:
        index: the vectors and ids.
        bm25: over the articles' words, and the parameters it was made with; None where they are not kept.
    """

    def __init__(
        self,
        index: ArticleIndex,
        paths: Sequence[tuple[str, ...]],
        numbers: np.ndarray,
        days: np.ndarray,
        bm25: tuple[BM25, Bm25Config] | None = None,
    ):
        self.index = index
        self.bm25 = bm25
        self._paths = paths
        self._numbers = numbers  # (articles,)
        self._days = days  # (articles, 2)
        self._allowed = lru_cache(_KEPT_CONDITIONS)(self._rows_met)

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        vectors: np.ndarray,
        columns: Columns,
        config: IndexConfig | None = None,
        bm25: Bm25Config | None = None,
    ) -> HeldArticles:
        """Return articles with vectors (articles, width), indexed as `config` says, and with `bm25` their words too.

        Raises:
            RunError: as `ArticleIndex.build`.
        """
        index = ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=config)
        numbers: dict[tuple[str, ...], int] = {}
        by_row = [numbers.setdefault(tuple(path), len(numbers)) for path in columns.paths]
        words = None
        if bm25 is not None:
            words = BM25(columns.words, language=TERMS, k1=bm25.k1, b=bm25.b), bm25
        days = np.asarray(columns.days, dtype=np.int32)
        return cls(index, list(numbers), np.array(by_row, dtype=np.int32), days, words)

    @classmethod
    def read(cls, folder: Path, *, remedy: str) -> HeldArticles:
        """Return what `write` left in a folder.

        Raises:
            RunError: if a file is missing or damaged; the message ends with the remedy.
        """
        index = ArticleIndex.load(folder / _INDEX, device="cpu")
        saved = artifacts.read_object(folder / _PATHS, remedy=remedy)
        columns = artifacts.read_array(folder / _COLUMNS, (len(index), 3), "int32", remedy=remedy)
        bm25 = None
        if "bm25" in saved:
            config = Bm25Config(**saved["bm25"])
            bm25 = BM25.read(folder / _WORDS, language=TERMS, k1=config.k1, b=config.b), config
        return cls(index, [tuple(path) for path in saved.get("paths", [])], columns[:, 0], columns[:, 1:], bm25)

    def write(self, folder: Path) -> None:
        """Write the index as a run has it, and the columns beside."""
        self.index.save(folder / _INDEX)
        saved: dict[str, object] = {"paths": self._paths}
        if self.bm25 is not None:
            words, config = self.bm25
            saved["bm25"] = asdict(config)
            (folder / _WORDS).mkdir()
            words.write(folder / _WORDS)
        artifacts.write_json(folder / _PATHS, saved)
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

    def search_text(self, words: str, k: int, where: Where) -> Ranking:
        """Return the best `k` articles for a question, as `IndexEngine.search_text` does."""
        rows, scores = self.bm25[0].ranking(words, k, self._allowed(where))
        n_found = int(np.count_nonzero(scores > 0))  # the others share no word with it
        return Ranking(tuple(self.index.article_ids[row] for row in rows[:n_found]), scores[:n_found])

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
