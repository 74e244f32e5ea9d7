"""The embedded engine: FAISS indexes in a local folder, one for each state, with the articles' columns beside."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.disk import stamp_newest
from statgraph.errors import EngineError
from statgraph.index.engines.contract import KEPT_STATES, Columns, IndexEngine, Ranking
from statgraph.index.engines.held_articles import HeldArticles


class FaissEngine(IndexEngine):
    """`HeldArticles`: in memory while they are written, read from `URI/STATE/` otherwise."""

    name = "faiss"

    def __init__(self, uri: str, *arguments, **named):
        if "://" in uri:
            raise EngineError(f"{uri}: engine faiss keeps vectors in a local folder; name one, or add --engine lance")
        super().__init__(uri, *arguments, **named)
        self._held: HeldArticles | None = None
        self._blocks: list[tuple[np.ndarray, Columns]] = []
        self._rows: dict[str, int] = {}  # in the blocks one after another, ascending
        self._n_rows = 0

    def refresh(self) -> None:
        """Read the folder of the state again."""
        folder = Path(self.uri) / self.state.key
        if not folder.is_dir():
            raise self.state.missing_from(self.uri, [path.name for path in _states(self.uri)], remedy=self.remedy())
        self._held = HeldArticles.read(folder, remedy=self.remedy())
        self.width, self.has_words = self._held.index.width, self._held.bm25 is not None

    def _commit(self) -> None:
        """Write the folder of the state, whole or not at all."""
        place = Path(self.uri) / self.state.key
        with artifacts.replaced_folder(place) as folder:
            self._current().write(folder)
        stamp_newest(place, _states(self.uri))
        for path in _states(self.uri)[KEPT_STATES:]:
            shutil.rmtree(path, ignore_errors=True)

    def count(self, where: Where = ANYWHERE) -> int:
        """Return how many articles meet a condition."""
        if self._writing and not self._rows:
            return 0
        return self._current().count(where)

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
            return [Ranking.of_none() for _ in vectors]
        return self._current().search(vectors, k, where)

    def _search_text(self, words: str, k: int, where: Where) -> Ranking:
        return Ranking.of_none() if self._writing and not self._rows else self._current().search_text(words, k, where)

    def _vectors(self, ids: Sequence[str]) -> dict[str, np.ndarray]:
        return {} if self._writing and not self._rows else self._current().vectors(ids)

    def _current(self) -> HeldArticles:
        """Return what was read, or the index of what was added so far."""
        if self._held is None:
            vectors = np.concatenate([block for block, _ in self._blocks])
            paths = [path for _, columns in self._blocks for path in columns.paths]
            words = [text for _, columns in self._blocks for text in columns.words] if self.has_words else None
            columns = Columns(paths, np.concatenate([columns.days for _, columns in self._blocks]), words)
            kept = list(self._rows.values())
            if len(kept) < self._n_rows:
                vectors, columns = vectors[kept], columns.of(kept)
                self._rows, self._n_rows = {name: row for row, name in enumerate(self._rows)}, len(kept)
            self._blocks = [(vectors, columns)]
            self._held = HeldArticles.of(list(self._rows), vectors, columns, self._config, self._bm25)
        return self._held


def _states(uri: str) -> list[Path]:
    """Return the folders of the states at a URI, newest first."""
    folders = [path for path in Path(uri).glob("[0-9a-f]*-*") if path.is_dir()] if Path(uri).is_dir() else []
    return sorted(folders, key=lambda path: path.stat().st_mtime_ns, reverse=True)
