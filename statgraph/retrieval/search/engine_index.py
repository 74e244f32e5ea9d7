"""A run's vectors in an index engine: writing them there, and searching them by the run's article rows."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.errors import damaged_run
from statgraph.law.allowed_rows import ANYWHERE, AllowedRows, Where
from statgraph.law.query import Ranked
from statgraph.law.validity import FOR_EVER, SINCE_EVER
from statgraph.registry import ENGINES
from statgraph.retrieval.index.article_index import ArticleIndex, read_article_ids
from statgraph.retrieval.index.engines.contract import Columns, EngineAddress, IndexEngine, State, Written
from statgraph.runs.hub import local_run
from statgraph.runs.run import RunFolder


@dataclass(frozen=True)
class EngineSummary:
    """What was written to an engine: the state's key, the counts, how long it took."""

    key: str
    written: Written
    seconds: float


def write_to_engine(run: object, address: EngineAddress, config: IndexConfig = IndexConfig()) -> EngineSummary:
    """Write the vectors of a run, or of the run in a folder, with the articles' ids and columns; return what was
    written.

        write_to_engine("runs/mine", EngineAddress("lance", "s3://law/mine")).key

    Readers of the run as it was go on with the state that they have opened.

    Raises:
        RunError: if the run has no vectors, or is damaged.
        DependencyError: if the engine's package is not installed.
        EngineError: if the engine cannot be reached, or another writer is at work.
        UsageError: if there is no such engine, or a setting is out of range.
    """
    run = RunFolder.read(local_run(run))
    run.require_vectors()
    state = state_of(run)
    writer = ENGINES.load(address.name).create(address.uri, state, config)
    index, articles = ArticleIndex.load(run.index, device="cpu"), run.articles
    start = time.perf_counter()
    if len(articles) != len(index):
        raise damaged_run(f"{len(articles)} articles, but {len(index)} in the run's index")
    days = articles.days_in_force
    if days is None:
        days = np.tile(np.array([SINCE_EVER, FOR_EVER], dtype=np.int32), (len(articles), 1))
    columns = Columns([article.path for article in articles.outlines], days)
    written = writer.write(index.article_ids, index.tiles(), columns)
    return EngineSummary(state.key, written, time.perf_counter() - start)


def state_of(run: RunFolder) -> State:
    """Return what a run's vectors are of; its manifest's hash distinguishes it from every other run, and from itself
    before an update."""
    manifest = (run.folder / artifacts.MANIFEST).read_bytes()
    return State(run.corpus.content_hash, hashlib.sha256(manifest).hexdigest())


class EngineIndex:
    """An engine's vectors of a run, searched as `ArticleIndex` is.

    Attributes:
        article_ids: the id of each article row.
    """

    def __init__(self, engine: IndexEngine, article_ids: Sequence[str]):
        self._engine = engine
        self.article_ids = tuple(article_ids)

    @classmethod
    def open(cls, run: RunFolder, address: EngineAddress) -> EngineIndex:
        """Return the index of a run in an engine; of the run's own index only the ids are read.

        Raises:
            RunError: if these are missing or damaged.
            DependencyError, EngineError, UsageError: as in `write_to_engine`.
        """
        return cls(ENGINES.load(address.name).open(address.uri, state_of(run)), read_article_ids(run.index))

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` articles for each query, (queries, width) float32, as `ArticleIndex.search` does.

        Raises:
            EngineError: if the engine cannot be reached.
        """
        where = ANYWHERE
        if allowed is not None and len(allowed) < allowed.n_articles:
            by_columns = allowed.where if len(allowed) else None
            where = by_columns or Where(ids=tuple(self.article_ids[row] for row in allowed.rows))
        ranked = []
        for ids, scores in self._engine.search(queries, k, where):
            rows = np.array([self._rows[article_id] for article_id in ids], dtype=np.int64)
            order = np.lexsort((rows, -scores))
            ranked.append(Ranked(rows[order], scores[order]))
        return ranked

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {article_id: row for row, article_id in enumerate(self.article_ids)}
