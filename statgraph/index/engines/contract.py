"""The contract of an index engine: article vectors and words with typed columns at a URI, searched by inner product or
by BM25."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from statgraph.config import Bm25Config, IndexConfig
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import EngineError, UsageError
from statgraph.index.exact_search import inner_products
from statgraph.index.vectors import check_ids
from statgraph.settings import check_settings

_KEY_DIGITS = 12
KEPT_STATES = 2  # the newest, and the one before it, whose readers may still be at work


@dataclass(frozen=True)
class EngineAddress:
    """An engine by its name in `statgraph.registry.ENGINES`, and the URI at which it keeps vectors."""

    name: str
    uri: str


@dataclass(frozen=True)
class State:
    """What vectors are of: a corpus, as the query encoder of one run finds it.

    Attributes:
        corpus_hash: the corpus's content hash.
        run_id: hex digits that tell the run from any other, and from itself after an update.
    """

    corpus_hash: str
    run_id: str

    @property
    def key(self) -> str:
        """Return the name under which an engine keeps the state: 12 digits of each, `CORPUS-RUN`."""
        return f"{self.corpus_hash[:_KEY_DIGITS]}-{self.run_id[:_KEY_DIGITS]}"

    def missing_from(self, place: str, held: Iterable[str], *, remedy: str) -> EngineError:
        """Return the error of an engine that holds states of other keys only, or none."""
        held = list(held)
        corpus, run = self.key.split("-")
        if not held:
            return EngineError(f"{place}: holds no article vectors; {remedy}")
        if any(key.startswith(f"{corpus}-") for key in held):
            return EngineError(f"{place}: holds this corpus as another run encodes it, not run {run}; {remedy}")
        known = ", ".join(dict.fromkeys(key.split("-")[0] for key in held))
        return EngineError(f"{place}: holds the vectors of corpus {known}, not of {corpus}; {remedy}")


@dataclass(frozen=True, eq=False)
class Columns:
    """What a filter and BM25 can ask of articles, one entry for each.

    Attributes:
        paths: titles of the headings that an article is under, from its code down.
        days: (articles, 2) int32 ordinals, the first day in force and the first after.
        words: an article's terms as `analyser` finds them, separated by spaces; None where no words are kept.
    """

    paths: Sequence[tuple[str, ...]]
    days: np.ndarray
    words: Sequence[str] | None = None

    def of(self, rows: Sequence[int] | np.ndarray) -> Columns:
        """Return the columns of some of the articles."""
        words = None if self.words is None else [self.words[row] for row in rows]
        return Columns([self.paths[row] for row in rows], self.days[rows], words)


@dataclass(frozen=True, eq=False)
class Ranking:
    """The articles found for one vector or question: `ids` and `scores` (found,) float32, best first."""

    ids: tuple[str, ...]
    scores: np.ndarray

    @classmethod
    def of_none(cls) -> Ranking:
        """Return that of no articles."""
        return cls((), np.empty(0, dtype=np.float32))


@dataclass(frozen=True)
class Written:
    """What `IndexEngine.write` did: how many articles there are now, were added or changed, and were removed."""

    articles: int
    changed: int
    removed: int


class IndexEngine(ABC):
    """The vectors of one state at a URI, and its words where they are kept; make one with `create` or `open`.

    What `add` and `delete` change, the next search of the same object sees. Others see it after `commit`, once they
    `open` or `refresh`; what was not committed is lost, a killed writer's too, and leaves what was there before as it
    was. Any number of threads may search one object; one at a time may write, to one URI.

    Every method raises EngineError where the engine cannot be reached.

    Attributes:
        name: in `statgraph.registry.ENGINES`.
        keeps_version: whether a reader is spared what its own state's writer changes after the first commit, until it
            calls `refresh`. All engines spare it what is written of other states.
        uri: where the vectors are.
        state: what they are of.
        width: of a vector; 0 while a new state holds none.
        has_words: whether the articles' words are there, for `search_text`.
    """

    name: ClassVar[str]
    keeps_version: ClassVar[bool] = True

    def __init__(
        self,
        uri: str,
        state: State,
        config: IndexConfig | None = None,
        bm25: Bm25Config | None = None,
        *,
        writing: bool,
    ):
        self.uri = uri
        self.state = state
        self.width = 0
        self.has_words = bm25 is not None
        self._config = config or IndexConfig()
        self._bm25 = bm25
        self._writing = writing

    @classmethod
    def create(cls, uri: str, state: State, config: IndexConfig | None = None, bm25: Bm25Config | None = None) -> Self:
        """Return the writer of a state, which begins with no articles.

        Args:
            uri: where to keep it, beside what is there.
            state: what the vectors will be of.
            config: how `commit` indexes them, or None for the defaults.
            bm25: how the words of articles are weighed, as far as the engine can be told; None to keep no words.

        Raises:
            DependencyError: if the engine's package is not installed.
            EngineError: if nothing can be kept there.
            UsageError: if a setting is out of range.
        """
        check_settings(config or IndexConfig())
        return cls(uri, state, config, bm25, writing=True)

    @classmethod
    def open(cls, uri: str, state: State) -> Self:
        """Return a reader of a state as it was last committed.

        Raises:
            DependencyError: if the engine's package is not installed.
            EngineError: if the state is not there.
        """
        if "://" not in uri and not Path(uri).exists():
            raise EngineError(f"{uri}: no such file or folder; {cls.remedy()}")
        engine = cls(uri, state, writing=False)
        engine.refresh()
        return engine

    @classmethod
    def remedy(cls) -> str:
        """Return what to do where the state is not there, or not whole."""
        return f"write the run with 'statgraph index --run RUN --engine {cls.name} --to URI'"

    def add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None:
        """Add articles, or put them in the place of those with the same ids.

        Args:
            ids: the article ids, each once.
            vectors: (articles, width) float32 or float16 of any finite length.
            columns: of the same articles.

        Raises:
            UsageError: if this is a reader, the columns are of another number of articles, or they have words and the
                state keeps none, or the other way round.
            EngineError: if the vectors have another width than those that are there, or one is not finite.
            RunError: if there are more or fewer ids than vectors, or one of them appears twice.
        """
        self._check_writing()
        if vectors.ndim != 2 or not len(vectors) == len(columns.paths) == len(columns.days):
            raise UsageError(
                f"vectors {vectors.shape}, {len(columns.paths)} paths and {len(columns.days)} days; give one of each "
                "for each article"
            )
        if (columns.words is not None) != self.has_words:
            raise UsageError(f"{self.uri}: words of articles are added where create was given bm25, and only there")
        check_ids(self.uri, len(vectors), ids)
        if not len(ids):
            return
        self._check_vectors(vectors)
        self.width = vectors.shape[1]
        self._add(ids, vectors, columns)

    def delete(self, ids: Sequence[str]) -> None:
        """Remove articles; ids that are not there are passed over.

        Raises:
            UsageError: if this is a reader.
        """
        self._check_writing()
        if ids and self.width:
            self._delete(ids)

    def commit(self) -> None:
        """Let readers find what this writer holds, all at once, and index it.

        The two newest states stay, older ones are removed.

        Raises:
            UsageError: if this is a reader.
            EngineError: if there is no article, or another writer is at work at the same URI.
        """
        self._check_writing()
        if not self.count():
            raise EngineError(f"{self.uri}: no articles to commit; add some first")
        self._commit()

    def write(self, ids: Sequence[str], tiles: Iterable[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Make these all the articles of the state, and commit it.

        Args:
            ids: the article ids.
            tiles: (first article, vectors) one after another, as `float32_tiles` yields them.
            columns: of all articles.

        Raises:
            UsageError, EngineError, RunError: as in `add`.
        """
        self._check_writing()
        for start, tile in tiles:
            rows = range(start, start + len(tile))
            self.add(ids[start : rows.stop], tile, columns.of(rows))
        self.commit()
        return Written(len(ids), len(ids), 0)

    def search(self, vectors: np.ndarray, k: int, where: Where = ANYWHERE) -> list[Ranking]:
        """Return the best `k` articles for each vector, or all where fewer meet the condition.

        Ties come in any order. An approximate index (docs/scaling.md) may miss a few articles; what is found has the
        score of its vector.

        Args:
            vectors: (queries, width) float32.
            k: how many, at least 1.
            where: the condition on their columns.

        Raises:
            UsageError: if `k` is below 1.
            EngineError: if the vectors have another width, or one is not finite.
        """
        _check_k(k)
        self._check_vectors(vectors)
        if where.ids == () or not self.width:
            return [Ranking.of_none() for _ in vectors]
        return self._search(np.ascontiguousarray(vectors, dtype=np.float32), k, where)

    def search_text(self, words: Sequence[str], k: int, where: Where = ANYWHERE) -> list[Ranking]:
        """Return the best `k` articles for each question by the engine's own BM25: of those that meet the condition and
        share a word with it, all where they are fewer.

        Ties come in any order. Scores are comparable within one question; engines weigh words in their own ways
        (docs/scaling.md).

        Args:
            words: the terms of each question, separated by spaces, analysed as those of the articles were.
            k: how many, at least 1.
            where: the condition on their columns.

        Raises:
            UsageError: if `k` is below 1.
            EngineError: if the state keeps no words.
        """
        _check_k(k)
        if not self.has_words:
            raise EngineError(f"{self.uri}: keeps no words of this run's articles; {self.remedy()} and --words")
        if where.ids == () or not self.width:
            return [Ranking.of_none() for _ in words]
        return [self._search_text(question, k, where) if question.strip() else Ranking.of_none() for question in words]

    def score(self, ids: Sequence[str], vectors: np.ndarray) -> np.ndarray:
        """Return the inner products of vectors (queries, width) with those of articles, (queries, ids) float32.

        Raises:
            UsageError: if an article is not there.
            EngineError: if the vectors have another width.
        """
        self._check_vectors(vectors)
        if not ids:
            return np.empty((len(vectors), 0), dtype=np.float32)
        found = self._vectors(list(dict.fromkeys(ids))) if self.width else {}
        strange = next((article_id for article_id in ids if article_id not in found), None)
        if strange is not None:
            raise UsageError(f"article '{strange}': not at {self.uri}; score articles that a search finds")
        articles = np.stack([found[article_id] for article_id in ids])
        rows = np.broadcast_to(np.arange(len(ids)), (len(vectors), len(ids)))
        return inner_products(articles, np.ascontiguousarray(vectors, dtype=np.float32), rows)

    @abstractmethod
    def count(self, where: Where = ANYWHERE) -> int:
        """Return how many articles meet a condition."""

    @abstractmethod
    def refresh(self) -> None:
        """Search the state as it was last committed from now on.

        Raises:
            EngineError: if it is there no longer.
        """

    @abstractmethod
    def _add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None: ...

    @abstractmethod
    def _delete(self, ids: Sequence[str]) -> None: ...

    @abstractmethod
    def _commit(self) -> None: ...

    @abstractmethod
    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]: ...

    @abstractmethod
    def _search_text(self, words: str, k: int, where: Where) -> Ranking: ...

    @abstractmethod
    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        """Return the vectors, (width,) float32, of those articles that are there by id."""

    def _check_writing(self) -> None:
        if not self._writing:
            raise UsageError(f"{self.uri}: opened to be read; make a writer with create")

    def _check_vectors(self, vectors: np.ndarray) -> None:
        if vectors.ndim != 2 or (self.width and vectors.shape[1] != self.width):
            raise EngineError(
                f"{self.uri}: vectors of shape {vectors.shape}, but it holds vectors of width {self.width}; encode "
                "them with the query encoder of the run that was written there"
            )
        if not np.isfinite(vectors).all():
            raise EngineError(f"{self.uri}: a vector holds a value that is not finite; train the run again")


def _check_k(k: int) -> None:
    if k < 1:
        raise UsageError(f"k must be at least 1 (got {k})")
