"""The contract of an index engine: article vectors with typed columns at a URI, searched by inner product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple, Self

import numpy as np

from statgraph.config import IndexConfig
from statgraph.errors import RETRAIN, EngineError, UsageError
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.law.query import check_k
from statgraph.retrieval.index.vectors import check_ids
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

    def missing_from(self, place: str, keys: Iterable[str], *, remedy: str) -> EngineError:
        """Return the error of an engine that holds states of other keys only, or none."""
        keys = list(keys)
        corpus, run = self.key.split("-")
        if not keys:
            return EngineError(f"{place}: holds no article vectors; {remedy}")
        if any(key.startswith(f"{corpus}-") for key in keys):
            return EngineError(f"{place}: holds this corpus as another run encodes it, not run {run}; {remedy}")
        known = ", ".join(dict.fromkeys(key.split("-")[0] for key in keys))
        return EngineError(f"{place}: holds the vectors of corpus {known}, not of {corpus}; {remedy}")


@dataclass(frozen=True, eq=False)
class Columns:
    """What a filter can ask of articles, one entry for each.

    Attributes:
        paths: titles of the headings that an article is under, from its code down.
        days: (articles, 2) int32 ordinals, the first day in force and the first after.
    """

    paths: Sequence[tuple[str, ...]]
    days: np.ndarray

    def of(self, rows: Sequence[int] | np.ndarray) -> Columns:
        """Return the columns of some of the articles."""
        return Columns([self.paths[row] for row in rows], self.days[rows])


class RankedIds(NamedTuple):
    """The articles that an engine, which knows no rows, ranks for one vector: best first.

    Attributes:
        ids: their ids.
        scores: (ids,) float32, falling.
    """

    ids: tuple[str, ...]
    scores: np.ndarray


class Written(NamedTuple):
    """What `IndexEngine.write` did: how many articles there are now, were added or changed, and were removed."""

    articles: int
    changed: int
    removed: int


class IndexEngine(ABC):
    """The vectors of one state at a URI: `create(...).write(...)` keeps them there, `open(...).search(...)` ranks them.

    An engine of your own defines `_write`, `_load` and `_search`. A reader keeps to what was written when it was
    opened; what a writer did not finish is lost, and leaves what was there before. Any number of threads may search one
    object; one at a time may write, to one URI.

    Every method raises EngineError where the engine cannot be reached.

    Attributes:
        name: in `statgraph.registry.ENGINES`.
        width: of a vector; 0 for a writer.
    """

    name: ClassVar[str]

    def __init__(self, uri: str, state: State, config: IndexConfig | None = None):
        self.uri = uri
        self.state = state
        self.width = 0
        self._config = config or IndexConfig()

    @classmethod
    def create(cls, uri: str, state: State, config: IndexConfig | None = None) -> Self:
        """Return the writer of a state; `config` is how `write` indexes it, None for the defaults.

        Raises:
            DependencyError: if the engine's package is not installed.
            EngineError: if nothing can be kept there.
            UsageError: if a setting is out of range.
        """
        check_settings(config or IndexConfig())
        return cls(uri, state, config)

    @classmethod
    def open(cls, uri: str, state: State) -> Self:
        """Return a reader of a state as it was last written.

        Raises:
            DependencyError: if the engine's package is not installed.
            EngineError: if the state is not there.
        """
        if "://" not in uri and not Path(uri).exists():
            raise EngineError(f"{uri}: no such file or folder; {cls.remedy()}")
        engine = cls(uri, state)
        engine._load()
        return engine

    @classmethod
    def remedy(cls) -> str:
        """Return what to do where the state is not there, or not whole."""
        return f"write the run with 'statgraph index --run RUN --engine {cls.name} --to URI'"

    def write(self, ids: Sequence[str], tiles: Iterable[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Make these all the articles of the state, and index them; readers see all of it at once, or nothing.

        The two newest states stay, older ones are removed.

        Args:
            ids: the article ids.
            tiles: (first article, vectors (articles, width) of any finite length) one after another, as `float32_tiles`
                yields them.
            columns: of all articles.

        Raises:
            UsageError: if this is a reader, or the columns are of another number of articles.
            EngineError: if there is no article, vectors have several widths or one is not finite, or another writer is
                at work at the same URI.
            RunError: if there are more or fewer ids than vectors, or one of them appears twice.
        """
        if self.width:
            raise UsageError(f"{self.uri}: opened to be read; make a writer with create")
        if not len(ids):
            raise EngineError(f"{self.uri}: no articles to write; give some")
        if not len(ids) == len(columns.paths) == len(columns.days):
            raise UsageError(f"{len(ids)} ids, {len(columns.paths)} paths, {len(columns.days)} days; give one of each")
        check_ids(self.uri, len(ids), ids)
        return self._write(ids, self._checked(ids, tiles), columns)

    def search(self, vectors: np.ndarray, k: int, where: Where = ANYWHERE) -> list[RankedIds]:
        """Return the best `k` articles for each vector, or all where fewer meet the condition.

        Ties come in any order. An approximate index (docs/scaling.md) may miss a few articles; what it returns has the
        score of its vector.

        Args:
            vectors: (queries, width) float32.
            k: how many, at least 1.
            where: the condition on their columns.

        Raises:
            UsageError: if `k` is below 1, or this is a writer.
            EngineError: if the vectors have another width, or one is not finite.
        """
        k = check_k(k)
        if not self.width:
            raise UsageError(f"{self.uri}: created to be written; search what open returns")
        self._check_vectors(vectors, self.width)
        if where.ids == ():
            return [RankedIds((), np.empty(0, dtype=np.float32)) for _ in vectors]
        return self._search(np.ascontiguousarray(vectors, dtype=np.float32), k, where)

    @abstractmethod
    def _write(self, ids: Sequence[str], tiles: Iterator[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Write checked arguments; the last tile must be taken before readers see the state."""

    @abstractmethod
    def _load(self) -> None:
        """Find the state as it was last written, and set `width`; raise EngineError if it is not there."""

    @abstractmethod
    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[RankedIds]: ...

    def _checked(self, ids: Sequence[str], tiles: Iterable[tuple[int, np.ndarray]]) -> Iterator[tuple[int, np.ndarray]]:
        """Yield the tiles as float32; raise as `write` does."""
        n_vectors = width = 0
        for start, tile in tiles:
            self._check_vectors(tile, width)
            width = tile.shape[1]
            n_vectors += len(tile)
            yield start, np.ascontiguousarray(tile, dtype=np.float32)
        check_ids(self.uri, n_vectors, ids)

    def _check_vectors(self, vectors: np.ndarray, width: int) -> None:
        if vectors.ndim != 2 or (width and vectors.shape[1] != width):
            raise EngineError(
                f"{self.uri}: vectors of shape {vectors.shape}, but it holds vectors of width {width}; encode them "
                "with the query encoder of the run that was written there"
            )
        if not np.isfinite(vectors).all():
            raise EngineError(f"{self.uri}: a vector holds a value that is not finite; {RETRAIN}")
