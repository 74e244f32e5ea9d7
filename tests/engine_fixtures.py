"""A law of 300 articles with columns, the place where an engine keeps it, and vectors that are easy to rank by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

import numpy as np
import pytest

from statgraph.law.allowed_rows import Where
from statgraph.registry import ENGINES
from statgraph.retrieval.index.engines.contract import Columns, IndexEngine, State

N_ARTICLES, WIDTH = 300, 16
FIRST, LAST = State("a" * 64, "1" * 64), State("b" * 64, "2" * 64)
REPEALED = date(2020, 1, 1).toordinal()
FOR_EVER = 2**31 - 1
# A book whose title another begins with, and what SQL and Milvus's expressions would take for their own.
BOOKS = ("Book 1", "Book 10", 'Book "é" 100%', "L'usage_ \\n")


@dataclass(frozen=True)
class Law:
    """Articles as an engine takes them."""

    ids: tuple[str, ...]
    vectors: np.ndarray
    columns: Columns

    def of(self, rows) -> Law:
        rows = list(rows)
        return Law(tuple(self.ids[row] for row in rows), self.vectors[rows], self.columns.of(rows))

    def arguments(self) -> tuple:
        """Return the arguments of `IndexEngine.write`, the vectors in two tiles."""
        half = len(self.ids) // 2
        return self.ids, [(0, self.vectors[:half]), (half, self.vectors[half:])], self.columns

    def met(self, where: Where) -> list[int]:
        """Return the rows that meet a condition, one by one."""
        return [
            row
            for row, (path, (first, after)) in enumerate(zip(self.columns.paths, self.columns.days, strict=True))
            if (not where.codes or path[0] in where.codes)
            and path[: len(where.heading)] == where.heading
            and (where.day is None or first <= where.day < after)
            and (where.ids is None or self.ids[row] in where.ids)
        ]

    def best(self, query: np.ndarray, k: int, where: Where) -> list[str]:
        """Return the best ids by a comparison with every article."""
        rows = self.met(where)
        scores = self.vectors[rows] @ query
        return [self.ids[rows[place]] for place in np.argsort(-scores, kind="stable")[:k]]


@pytest.fixture(scope="session")
def law() -> Law:
    """Three codes of four books of 25 articles, of random vectors; every seventh article was repealed in 2020."""
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((N_ARTICLES, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    paths = [(f"Code {row % 3}", BOOKS[row // 3 % 4]) for row in range(N_ARTICLES)]
    days = [(0, REPEALED if row % 7 == 0 else FOR_EVER) for row in range(N_ARTICLES)]
    return Law(tuple(f"art '{row}'" for row in range(N_ARTICLES)), vectors, Columns(paths, np.array(days, np.int32)))


@pytest.fixture(scope="session")
def queries() -> np.ndarray:
    return np.random.default_rng(1).standard_normal((8, WIDTH)).astype(np.float32)


@dataclass(frozen=True)
class Place:
    """An engine and an empty place for it.

    Attributes:
        away: a place where nobody answers.
        sends_changes: whether writing again sends only what has changed.
    """

    name: str
    uri: str
    away: str
    sends_changes: bool = False

    @property
    def engine(self) -> type[IndexEngine]:
        return ENGINES.load(self.name)

    def let_go(self) -> None:
        """Let another process in, where only one may be at the place."""

    def written(self, law: Law, state: State = FIRST) -> IndexEngine:
        """Write a law as a state, and return its reader."""
        self.engine.create(self.uri, state).write(*law.arguments())
        return self.engine.open(self.uri, state)


@pytest.fixture
def compass() -> np.ndarray:
    """East, north, west, south, and north-east: (5, 2) float32."""
    half = np.sqrt(0.5)
    return np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [half, half]], dtype=np.float32)


@pytest.fixture
def unit_vectors():
    """Return a function that draws (rows, width) float32 vectors of length 1."""

    def draw(n_rows: int, width: int, seed: int) -> np.ndarray:
        vectors = np.random.default_rng(seed).standard_normal((n_rows, width)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return draw
