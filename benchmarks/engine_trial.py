"""Index engines over synthetic vectors with columns: `python -m benchmarks.engine_trial STEP FOLDER [JSON]`.

The steps share a folder with `drawn.npy` of `benchmarks.index_trial`: `write` puts the vectors into one engine,
`search` asks it alone for recall and memory, `compare` asks all of them in turns for latency. Each prints one JSON
object.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.index_trial import ClusteredVectors
from benchmarks.processes import print_step
from statgraph.law.allowed_rows import ANYWHERE, Where
from statgraph.registry import ENGINES
from statgraph.retrieval.index.engines.contract import Columns, State
from statgraph.retrieval.index.vectors import best_of, float32_tiles

DEPTH = 10
PLACES = {"faiss": "faiss", "lance": "lance", "milvus": "milvus.db"}
_STATE = State("a" * 64, "1" * 64)
_CODES, _BOOKS, _REPEALED, _DAY = 10, 100, 10, 1_000
_QUERIES_SEED = 2
_MIB = 2**20


def conditions() -> dict[str, Where]:
    """Return what is searched, by name: all articles, nine tenths of them, a tenth and a thousandth."""
    return {
        "all": ANYWHERE,
        "in force (90%)": Where(day=_DAY),
        "a code (10%)": Where(codes=("Code 3",)),
        "a heading (0.1%)": Where(heading=("Code 3", "Book 33")),
    }


def columns_of(n_articles: int) -> Columns:
    """Return columns by row number: a tenth of the articles in each code, a hundredth of these in each book, a tenth
    repealed."""
    paths = {(row % _CODES, row // _CODES % _BOOKS) for row in range(min(n_articles, _CODES * _BOOKS))}
    known = {place: (f"Code {place[0]}", f"Book {place[1]}") for place in paths}
    days = np.tile(np.array([0, 2**31 - 1], dtype=np.int32), (n_articles, 1))
    days[np.arange(n_articles) // (_CODES * _BOOKS) % _REPEALED == 0, 1] = _DAY
    return Columns([known[row % _CODES, row // _CODES % _BOOKS] for row in range(n_articles)], days)


def write(folder: Path, *, engine: str) -> dict:
    """Write `drawn.npy` to an engine beside it."""
    vectors = np.load(folder / "drawn.npy", mmap_mode="r", allow_pickle=False)
    ids = [f"a{row}" for row in range(len(vectors))]
    columns = columns_of(len(vectors))
    place = folder / PLACES[engine]
    start = time.perf_counter()
    ENGINES.load(engine).create(str(place), _STATE).write(ids, float32_tiles(vectors), columns)
    written_s = time.perf_counter() - start
    files = [path for path in (place.rglob("*") if place.is_dir() else folder.glob(f"{place.name}*")) if path.is_file()]
    return {"write_s": written_s, "disk_mib": sum(path.stat().st_size for path in files) / _MIB}


def best(folder: Path, *, n_queries: int) -> dict:
    """Write `best.npz`: the best rows of each question under each condition, by a comparison with every vector."""
    vectors = np.load(folder / "drawn.npy", mmap_mode="r", allow_pickle=False)
    columns = columns_of(len(vectors))
    queries = ClusteredVectors(len(vectors)).draw(n_queries, seed=(_QUERIES_SEED,))
    found = {}
    for name, where in conditions().items():
        rows = _rows_met(where, columns)
        found[name] = np.stack([best_of(vectors, query, rows, DEPTH).rows for query in queries])
    np.savez(folder / "best.npz", **found)
    return {}


def search(folder: Path, *, engine: str, n_articles: int, n_queries: int) -> dict:
    """Return an engine's recall by condition, and the peak memory of a process that asks it alone."""
    queries = ClusteredVectors(n_articles).draw(n_queries, seed=(_QUERIES_SEED,))
    start = time.perf_counter()
    reader = ENGINES.load(engine).open(str(folder / PLACES[engine]), _STATE)
    open_s = time.perf_counter() - start
    recall = {}
    with np.load(folder / "best.npz") as exact:
        for name, where in conditions().items():
            found = [reader.search(query[None], DEPTH, where)[0].ids for query in queries]
            pairs = zip(found, exact[name], strict=True)
            recall[name] = float(
                np.mean([len({f"a{row}" for row in rows} & set(ids)) / len(rows) for ids, rows in pairs])
            )
    return {"recall": recall, "open_s": open_s}


def compare(folder: Path, *, engines: list[str], n_articles: int, n_queries: int) -> dict:
    """Return the seconds of each question by engine and condition; the engines take turns, question by question."""
    queries = ClusteredVectors(n_articles).draw(n_queries, seed=(_QUERIES_SEED,))
    readers = {name: ENGINES.load(name).open(str(folder / PLACES[name]), _STATE) for name in engines}
    seconds: dict[str, dict[str, list[float]]] = {name: {} for name in engines}
    for condition, where in conditions().items():
        for reader in readers.values():
            reader.search(queries[:1], DEPTH, where)  # what is read once, such as how many articles meet it
        for query in queries:
            for name, reader in readers.items():
                start = time.perf_counter()
                reader.search(query[None], DEPTH, where)
                seconds[name].setdefault(condition, []).append(time.perf_counter() - start)
    return {"seconds": seconds}


def _rows_met(where: Where, columns: Columns) -> np.ndarray:
    met = np.ones(len(columns.days), dtype=bool)
    if where.day is not None:
        met &= (columns.days[:, 0] <= where.day) & (where.day < columns.days[:, 1])
    if where.codes or where.heading:
        met &= np.array(
            [
                (not where.codes or path[0] in where.codes) and path[: len(where.heading)] == where.heading
                for path in columns.paths
            ]
        )
    return np.flatnonzero(met)


if __name__ == "__main__":
    print_step({"write": write, "best": best, "search": search, "compare": compare})
