"""A run's vectors in an index engine: writing them there, and searching them by the run's article rows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.validity import FOR_EVER, SINCE_EVER
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.encoders.article_text import article_text
from statgraph.errors import RunError
from statgraph.index.article_index import ArticleIndex
from statgraph.index.engines.contract import Columns, EngineAddress, IndexEngine, Ranking, State, Written
from statgraph.index.folder import read_article_ids
from statgraph.index.rankings import ties_by_row
from statgraph.lexical.analysis import analyser
from statgraph.registry import ENGINES
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import Run


@dataclass(frozen=True)
class EngineSummary:
    """What was written to an engine: the state's key, the counts, how long it took."""

    key: str
    written: Written
    seconds: float


def write_to_engine(run: Run, address: EngineAddress, config: IndexConfig, *, words: bool = False) -> EngineSummary:
    """Write the vectors of a run, with the articles' ids and columns, and return what was written.

    Readers of the run as it was go on with the state that they have opened.

    Args:
        run: the run.
        address: where to write them.
        config: how they are indexed.
        words: whether the articles' words go with them, for `EngineIndex.search_text`.

    Raises:
        RunError: if the run has no vectors, or is damaged.
        DependencyError: if the engine's package is not installed.
        EngineError: if the engine cannot be reached, or another writer is at work.
        UsageError: if there is no such engine, or a setting is out of range.
    """
    run.require_vectors()
    state = state_of(run)
    writer = ENGINES.load(address.name).create(address.uri, state, config, run.config.bm25 if words else None)
    index = ArticleIndex.load(run.index, device="cpu", converting=True)
    start = time.perf_counter()
    articles = ArticleStore(run.folder)
    columns = replace(_columns(articles, index.article_ids), words=_Words(articles, run) if words else None)
    written = writer.write(index.article_ids, index.tiles(), columns)
    return EngineSummary(state.key, written, time.perf_counter() - start)


def state_of(run: Run) -> State:
    """Return what a run's vectors are of; its manifest tells it from every other run, and from itself when updated."""
    manifest = (run.folder / artifacts.MANIFEST).read_bytes()
    return State(run.corpus.content_hash, hashlib.sha256(manifest).hexdigest())


def _columns(articles: ArticleStore, article_ids: Sequence[str]) -> Columns:
    if len(articles) != len(article_ids):
        raise RunError(f"{len(articles)} articles, but {len(article_ids)} in the run's index; train the run again")
    paths: dict[tuple[str, ...], tuple[str, ...]] = {}  # many articles share one
    days = articles.days_in_force
    if days is None:
        days = np.tile(np.array([SINCE_EVER, FOR_EVER], dtype=np.int32), (len(articles), 1))
    return Columns([paths.setdefault(article.path, article.path) for article in articles], days)


class _Words(Sequence):
    """The terms of each article of a run, separated by spaces, found when they are asked for."""

    def __init__(self, articles: ArticleStore, run: Run):
        self._articles = articles
        self._heading_path = run.config.encoder.heading_path
        self._terms = analyser(run.corpus.language)

    def __len__(self) -> int:
        return len(self._articles)

    def __getitem__(self, row: int) -> str:
        (article,) = self._articles.read([row])
        return " ".join(self._terms(article_text(article, heading_path=self._heading_path)))


class EngineIndex:
    """An engine's vectors of a run, searched as `ArticleIndex` is.

    Attributes:
        article_ids: the id of each article row.
    """

    def __init__(self, engine: IndexEngine, article_ids: Sequence[str], *, language: str):
        self._engine = engine
        self._terms = analyser(language)
        self.article_ids = tuple(article_ids)

    @classmethod
    def open(cls, run: Run, address: EngineAddress) -> EngineIndex:
        """Return the index of a run in an engine; of the run's own index only the ids are read.

        Raises:
            RunError: if these are missing or damaged.
            DependencyError, EngineError, UsageError: as in `write_to_engine`.
        """
        engine = ENGINES.load(address.name).open(address.uri, state_of(run))
        return cls(engine, read_article_ids(run.index), language=run.corpus.language)

    def search(
        self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each query (scores float32, article rows int64) of its best `k`, best first, ties by row.

        Args:
            queries: (queries, width) float32.
            k: how many articles to find for each.
            allowed: the article rows to search, or None for all.

        Raises:
            EngineError: if the engine cannot be reached.
        """
        return self._by_row(self._engine.search(queries, k, self._where(allowed)))

    def search_text(
        self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (scores float32, article rows int64) of its best `k` by the engine's BM25, best
        first, ties by row; articles that share no word with it are left out.

        Raises:
            EngineError: if the engine cannot be reached, or the run was written there without its articles' words.
        """
        words = [" ".join(self._terms(question)) for question in questions]
        return self._by_row(self._engine.search_text(words, k, self._where(allowed)))

    def _by_row(self, rankings: Sequence[Ranking]) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return (scores, article rows) of each ranking, ties by row."""
        scores, rows = [], []
        for found in rankings:
            of_found = np.array([self._rows[article_id] for article_id in found.ids], dtype=np.int64)
            by_row = ties_by_row(found.scores[None], of_found)
            scores.append(by_row[0][0])
            rows.append(by_row[1][0])
        return scores, rows

    def _where(self, allowed: AllowedRows | None) -> Where:
        if allowed is None or len(allowed) == allowed.n_articles:
            return ANYWHERE
        if allowed.where is not None and len(allowed):
            return allowed.where
        return Where(ids=tuple(self.article_ids[row] for row in allowed.rows))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {article_id: row for row, article_id in enumerate(self.article_ids)}
