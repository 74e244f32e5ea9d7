"""A law of 300 articles with columns, and the places where each engine keeps it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from statgraph.corpus.allowed_rows import Where
from statgraph.index.engines.contract import Columns, IndexEngine, State
from statgraph.registry import ENGINES

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
    """An engine and an empty place for it; `away` is one where nobody answers."""

    name: str
    uri: str
    away: str

    @property
    def engine(self) -> type[IndexEngine]:
        return ENGINES.load(self.name)

    def let_go(self) -> None:
        """Let another process in, where only one may be at the place."""
        if self.name == "milvus":
            from milvus_lite.server_manager import server_manager_instance

            server_manager_instance.release_all()

    def written(self, law: Law, state: State = FIRST) -> IndexEngine:
        """Write a law as a state, and return its reader."""
        self.engine.create(self.uri, state).write(*law.arguments())
        return self.engine.open(self.uri, state)


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Return the address of an S3-compatible server on this machine."""
    server = pytest.importorskip("moto.server", reason="needs the extra 'engines'").ThreadedMotoServer(port=0)
    server.start()
    try:
        yield "http://{}:{}".format(*server.get_host_and_port())
    finally:
        server.stop()


def _on_s3(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    import urllib.request

    pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    endpoint = request.getfixturevalue("s3_endpoint")
    settings = {"ACCESS_KEY_ID": "test", "SECRET_ACCESS_KEY": "test", "REGION": "eu-west-1", "ENDPOINT_URL": endpoint}
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    bucket = f"law-{os.getpid()}-{abs(hash(str(tmp_path)))}"
    asked = urllib.request.Request(
        f"{endpoint}/{bucket}",
        method="PUT",
        data=(
            b"<CreateBucketConfiguration><LocationConstraint>eu-west-1</LocationConstraint></CreateBucketConfiguration>"
        ),
    )
    urllib.request.urlopen(asked).close()
    return Place("lance", f"s3://{bucket}/law", f"s3://no-such-bucket-{os.getpid()}/law")


@pytest.fixture(params=["faiss", "lance", "lance in place", "lance on S3", "milvus"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return each engine in turn, with an empty place; those whose package is not installed are skipped."""
    if request.param == "lance on S3":
        return _on_s3(request, tmp_path, monkeypatch)
    if request.param.startswith("lance"):
        pytest.importorskip("lancedb", reason="needs the extra 'lance'")
    if request.param == "lance in place":  # as a table is that is too large to be held
        monkeypatch.setattr("statgraph.index.engines.lance_engine.HELD_MOST", 0)
    if request.param == "milvus":
        pytest.importorskip("milvus_lite", reason="needs the extra 'milvus' and milvus-lite")
        return Place("milvus", str(tmp_path / "law.db"), "http://127.0.0.1:9")
    return Place(request.param.partition(" ")[0], str(tmp_path / "law"), str(tmp_path / "nowhere"))
