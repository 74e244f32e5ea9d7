"""The embedded engine: FAISS indexes in a local folder, one for each state, with the articles' columns beside."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.errors import EngineError
from statgraph.index.article_index import ArticleIndex
from statgraph.index.engines.contract import KEPT_STATES, Columns, IndexEngine, Ranking, State

_INDEX, _PATHS, _COLUMNS = "index", "paths.json", "columns.npy"
_REMEDY = "read the URI that 'statgraph index --engine faiss --to URI' wrote, or write it again"
_KEPT_CONDITIONS = 32  # readers browse: the same conditions come many times


class FaissEngine(IndexEngine):
    """An `ArticleIndex` with columns: in memory while it is written, read from `URI/STATE/` otherwise."""

    name = "faiss"

    def __init__(self, uri: str, state: State, *, writing: bool, config: IndexConfig | None = None):
        super().__init__(uri, state, writing=writing)
        self._config = config or IndexConfig()
        self._held: _Held | None = None
        self._blocks: list[tuple[np.ndarray, Columns]] = []
        self._rows: dict[str, int] = {}  # in the blocks one after another, ascending
        self._n_rows = 0

    @classmethod
    def create(cls, uri: str, state: State, config: IndexConfig | None = None) -> FaissEngine:
        """Return the writer of a state, as `IndexEngine.create` does."""
        _check_local(uri)
        return cls(uri, state, writing=True, config=config)

    @classmethod
    def open(cls, uri: str, state: State) -> FaissEngine:
        """Return a reader of a state, as `IndexEngine.open` does."""
        _check_local(uri)
        engine = cls(uri, state, writing=False)
        engine.refresh()
        return engine

    def refresh(self) -> None:
        """Read the folder of the state again."""
        folder = Path(self.uri) / self.state.key
        if not folder.is_dir():
            raise self.state.missing_from(self.uri, [path.name for path in _states(self.uri)], remedy=_REMEDY)
        self._held = _Held.read(folder)
        self.width = self._held.index.width

    def commit(self) -> None:
        """Write the folder of the state, whole or not at all."""
        self._check_writing()
        if not self._rows:
            raise EngineError(f"{self.uri}: no articles to commit; add some first")
        with artifacts.replaced_folder(Path(self.uri) / self.state.key) as folder:
            self._current().write(folder)
        for path in _states(self.uri)[KEPT_STATES:]:
            shutil.rmtree(path, ignore_errors=True)

    def count(self, where: Where = ANYWHERE) -> int:
        """Return how many articles meet a condition."""
        if self._writing and not self._rows:
            return 0
        held = self._current()
        allowed = held.allowed(where)
        return len(held.index) if allowed is None else len(allowed)

    def _add(self, ids: Sequence[str], vectors: np.ndarray, columns: Columns) -> None:
        for row, article_id in enumerate(ids, start=self._n_rows):
            self._rows.pop(article_id, None)
            self._rows[article_id] = row
        self._blocks.append((vectors, columns))
        self._n_rows += len(ids)
        self._held = None

    def _delete(self, ids: Sequence[str]) -> None:
        for article_id in ids:
            self._rows.pop(article_id, None)
        self._held = None

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[Ranking]:
        if self._writing and not self._rows:
            return [Ranking((), np.empty(0, dtype=np.float32)) for _ in vectors]
        held = self._current()
        found_scores, found_rows = held.index.search(vectors, k, held.allowed(where))
        ids = held.index.article_ids
        return [
            Ranking(tuple(ids[row] for row in rows), scores)
            for scores, rows in zip(found_scores, found_rows, strict=True)
        ]

    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        held = self._current()
        return {
            article_id: held.index.vectors_of([held.rows[article_id]])[0]
            for article_id in ids
            if article_id in held.rows
        }

    def _current(self) -> _Held:
        """Return what was read, or the index of what was added so far."""
        if self._held is None:
            vectors = np.concatenate([block for block, _ in self._blocks])
            paths = [path for _, columns in self._blocks for path in columns.paths]
            columns = Columns(paths, np.concatenate([columns.days for _, columns in self._blocks]))
            kept = list(self._rows.values())
            if len(kept) < self._n_rows:
                vectors, columns = vectors[kept], columns.of(kept)
                self._rows, self._n_rows = {name: row for row, name in enumerate(self._rows)}, len(kept)
            self._blocks = [(vectors, columns)]
            index = ArticleIndex.build(vectors, list(self._rows), device="cpu", unit_length=False, config=self._config)
            self._held = _Held.of(index, columns)
        return self._held


class _Held:
    """An index and, by its rows, the columns: each row's heading by number, and its days in force."""

    def __init__(self, index: ArticleIndex, paths: Sequence[tuple[str, ...]], numbers: np.ndarray, days: np.ndarray):
        self.index = index
        self._paths = paths
        self._numbers = numbers  # (articles,)
        self._days = days  # (articles, 2)
        self.allowed = lru_cache(_KEPT_CONDITIONS)(self._allowed)

    @classmethod
    def of(cls, index: ArticleIndex, columns: Columns) -> _Held:
        numbers: dict[tuple[str, ...], int] = {}
        by_row = [numbers.setdefault(tuple(path), len(numbers)) for path in columns.paths]
        return cls(index, list(numbers), np.array(by_row, dtype=np.int32), np.asarray(columns.days, dtype=np.int32))

    @classmethod
    def read(cls, folder: Path) -> _Held:
        index = ArticleIndex.load(folder / _INDEX, device="cpu")
        paths = artifacts.read_object(folder / _PATHS, remedy=_REMEDY).get("paths", [])
        columns = artifacts.read_array(folder / _COLUMNS, (len(index), 3), "int32", remedy=_REMEDY)
        return cls(index, [tuple(path) for path in paths], columns[:, 0], columns[:, 1:])

    def write(self, folder: Path) -> None:
        self.index.save(folder / _INDEX)
        artifacts.write_json(folder / _PATHS, {"paths": self._paths})
        np.save(folder / _COLUMNS, np.column_stack([self._numbers, self._days]).astype(np.int32), allow_pickle=False)

    @cached_property
    def rows(self) -> dict[str, int]:
        return {article_id: row for row, article_id in enumerate(self.index.article_ids)}

    def _allowed(self, where: Where) -> AllowedRows | None:
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
            named[[self.rows[article_id] for article_id in where.ids if article_id in self.rows]] = True
            chosen &= named
        return AllowedRows.of_mask(chosen)


def _states(uri: str) -> list[Path]:
    """Return the folders of the states at a URI, newest first."""
    folders = [path for path in Path(uri).glob("[0-9a-f]*-*") if path.is_dir()] if Path(uri).is_dir() else []
    return sorted(folders, key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _check_local(uri: str) -> None:
    if "://" in uri:
        raise EngineError(f"{uri}: engine faiss keeps vectors in a local folder; name one, or add --engine lance")
