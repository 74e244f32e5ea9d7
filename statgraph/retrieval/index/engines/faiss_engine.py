"""The embedded engine: FAISS indexes in a local folder, one for each state, with the articles' columns beside."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig
from statgraph.errors import EngineError, option
from statgraph.law.allowed_rows import ANYWHERE, AllowedRows, Where
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.engines.contract import KEPT_STATES, Columns, IndexEngine, RankedIds, State, Written

_INDEX, _PATHS, _COLUMNS = "index", "paths.json", "columns.npy"


class FaissEngine(IndexEngine):
    """A folder `URI/STATE/` for each state, as `LocalArticles` writes it."""

    name = "faiss"
    _articles: LocalArticles  # of a reader

    def __init__(self, uri: str, state: State, config: IndexConfig | None = None):
        if "://" in uri:
            raise EngineError(
                f"{uri}: engine faiss keeps vectors in a local folder; name one, or add {option('engine')} lance"
            )
        super().__init__(uri, state, config)

    def _load(self) -> None:
        """Read the folder of the state."""
        folder = Path(self.uri) / self.state.key
        if not folder.is_dir():
            raise self.state.missing_from(self.uri, [path.name for path in _states(self.uri)], remedy=self.remedy())
        self._articles = LocalArticles.read(folder, remedy=self.remedy())
        self.width = self._articles.index.width

    def _write(self, ids: Sequence[str], tiles: Iterator[tuple[int, np.ndarray]], columns: Columns) -> Written:
        """Write the folder of the state, whole or not at all."""
        vectors = np.concatenate([tile for _, tile in tiles])
        articles = LocalArticles.of(ids, vectors, columns, self._config)
        place = Path(self.uri) / self.state.key
        with artifacts.replaced_folder(place) as folder:
            articles.write(folder)
        artifacts.stamp_newest(place, _states(self.uri))
        for path in _states(self.uri)[KEPT_STATES:]:
            shutil.rmtree(path, ignore_errors=True)
        return Written(len(ids), len(ids), 0)

    def _search(self, vectors: np.ndarray, k: int, where: Where) -> list[RankedIds]:
        return self._articles.search(vectors, k, where)


class LocalArticles:
    """An `ArticleIndex` and, by its rows, the columns: which of the paths of headings each article has (`numbers`,
    (articles,) int32), and its days in force as in `Columns`."""

    def __init__(self, index: ArticleIndex, paths: Sequence[tuple[str, ...]], numbers: np.ndarray, days: np.ndarray):
        self.index = index
        self._paths = paths
        self._numbers = numbers
        self._days = days

    @classmethod
    def of(
        cls, ids: Sequence[str], vectors: np.ndarray, columns: Columns, config: IndexConfig | None = None
    ) -> LocalArticles:
        """Return articles with vectors (articles, width), indexed as `config` says.

        Raises:
            RunError: as `ArticleIndex.build`.
        """
        index = ArticleIndex.build(vectors, ids, device="cpu", unit_length=False, config=config)
        numbers: dict[tuple[str, ...], int] = {}
        by_row = [numbers.setdefault(tuple(path), len(numbers)) for path in columns.paths]
        return cls(index, list(numbers), np.array(by_row, dtype=np.int32), np.asarray(columns.days, dtype=np.int32))

    @classmethod
    def read(cls, folder: Path, *, remedy: str) -> LocalArticles:
        """Return what `write` left in a folder.

        Raises:
            RunError: if a file is missing or damaged; the message ends with the remedy.
        """
        index = ArticleIndex.load(folder / _INDEX, device="cpu")
        saved = artifacts.read_object(folder / _PATHS, remedy=remedy)
        columns = artifacts.read_array(folder / _COLUMNS, (len(index), 3), "int32", remedy=remedy)
        return cls(index, [tuple(path) for path in saved.get("paths", [])], columns[:, 0], columns[:, 1:])

    def write(self, folder: Path) -> None:
        """Write the index as a run has it, and the columns beside."""
        self.index.save(folder / _INDEX)
        artifacts.write_json(folder / _PATHS, {"paths": self._paths})
        np.save(folder / _COLUMNS, np.column_stack([self._numbers, self._days]).astype(np.int32), allow_pickle=False)

    def search(self, vectors: np.ndarray, k: int, where: Where) -> list[RankedIds]:
        """Return the best `k` articles for each vector, as `IndexEngine.search` does."""
        ids = self.index.article_ids
        ranked = self.index.search(vectors, k, self._allowed_rows(where))
        return [RankedIds(tuple(ids[row] for row in rows), scores) for rows, scores in ranked]

    def _allowed_rows(self, where: Where) -> AllowedRows | None:
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
            named = set(where.ids)
            chosen &= np.array([article_id in named for article_id in self.index.article_ids])
        return AllowedRows.of_mask(chosen)


def _states(uri: str) -> list[Path]:
    """Return the folders of the states at a URI, newest first."""
    folders = [path for path in Path(uri).glob("[0-9a-f]*-*") if path.is_dir()] if Path(uri).is_dir() else []
    return sorted(folders, key=lambda path: path.stat().st_mtime_ns, reverse=True)
