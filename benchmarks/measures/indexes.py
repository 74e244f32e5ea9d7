"""Kinds of index beside exact search: recall, time of a question and memory by the number of articles.

Each step is a process of its own, with its peak of memory; they share a folder.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.measuring import Row, Settings, Spread, in_own_process, ratio_text, taking_turns, times_faster
from statgraph.config import IndexConfig
from statgraph.device import peak_memory_mib
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.vectors import float32_tiles

KINDS = {30_000: ("ivf-pq",), 100_000: ("auto", "ivf-pq"), 1_000_000: ("auto",)}
QUICK = {2_000: ("ivf-pq",)}
LARGEST = 10_000_000
WIDTH, DEPTH = 384, 100
EXACT = "exact search, faiss.IndexFlatIP"
_ARTICLES_PER_SECTION, _ARTICLES_PER_TOPIC = 100, 10_000
# Distances relative to the length of a centre; an article is then some 0.8 (cosine) from its section's centre.
_SECTION_SPREAD, _ARTICLE_SPREAD = 0.9, 0.7
_TIMED, _BLOCK, _MILLION, _MIB = 10, 100_000, 1_000_000, 2**20
_ARTICLES_SEED, _QUERIES_SEED = 1, 2


def measure_kinds(settings: Settings) -> list[Row]:
    """Return the rows of synthetic articles by their number and the kind of index."""
    sizes = QUICK if settings.quick else KINDS
    return [row for n_articles, kinds in sizes.items() for row in _rows(n_articles, kinds, n_queries=200)]


def measure_largest(settings: Settings) -> list[Row]:
    """Return the rows of what `auto` makes of ten million articles, drawn as float16 on disk, never in memory whole:
    ten minutes, most of it drawing and building, and 20 GB of disk."""
    return _rows(2_000 if settings.quick else LARGEST, ("auto",), n_queries=64, precision="float16")


def _rows(n_articles: int, kinds: tuple[str, ...], *, n_queries: int, precision: str = "float32") -> list[Row]:
    """Return the rows of indexes of these kinds over the same synthetic articles."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="statgraph-index-") as folder:
        in_own_process(draw, folder=folder, n_articles=n_articles, precision=precision)
        for kind in kinds:
            built = in_own_process(build, folder=folder, kind=kind)
            searched = in_own_process(search, folder=folder, n_articles=n_articles, n_queries=n_queries)
            shutil.rmtree(Path(folder) / "index")
            rows += _rows_of_index(n_articles, kind, built, searched)
    return rows


def _rows_of_index(n_articles: int, asked_kind: str, built: dict, searched: dict) -> list[Row]:
    kind = built["kind"] if asked_kind == built["kind"] else f"{asked_kind} ({built['kind']})"
    name = f"index of {n_articles:,} articles, {kind}"
    note = f"The rival holds at most {_MILLION:,} vectors; its times are in proportion. The vectors on disk are cached."
    faster = times_faster(searched["seconds"]["ours"], searched["seconds"]["faiss"])
    each_ms = 1000 * Spread.of(searched["seconds"]["ours"]).median
    time = f"recall {searched['recall']:.3f}, {ratio_text(faster)}; {each_ms:.2f} ms each"
    memory = (
        f"{built['bytes']['index.faiss'] / _MIB:,.0f} MiB of index in memory, "
        f"{sum(built['bytes'].values()) / _MIB:,.0f} MiB on disk; peak of a searching process "
        f"{searched['peak_mib']:,} MiB, of the building one {built['peak_mib']:,} MiB; built in "
        f"{built['build_s']:,.0f} s"
    )
    return [
        Row(f"{name}, one question at a time", EXACT, time, searched["seconds"], note),
        Row(f"{name}, memory and building", "", memory, built),
    ]


class ClusteredVectors:
    """Draws articles, and questions that lie among them, in blocks: never all at once."""

    def __init__(self, n_articles: int, *, seed: int = 0):
        rng = np.random.default_rng(seed)
        topics = _unit(rng.standard_normal((max(4, n_articles // _ARTICLES_PER_TOPIC), WIDTH), np.float32))
        n_sections = max(40, n_articles // _ARTICLES_PER_SECTION)
        around = _unit(rng.standard_normal((n_sections, WIDTH), np.float32))
        self._sections = _unit(topics[rng.integers(len(topics), size=n_sections)] + _SECTION_SPREAD * around)

    def draw(self, n_vectors: int, *, seed: tuple[int, ...]) -> np.ndarray:
        """Return unit vectors (vectors, WIDTH) float32 of sections drawn evenly."""
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((n_vectors, WIDTH), np.float32)
        vectors *= _ARTICLE_SPREAD / WIDTH**0.5
        vectors += self._sections[rng.integers(len(self._sections), size=n_vectors)]
        return _unit(vectors)


def draw(folder: str, n_articles: int, precision: str) -> None:
    """Write `drawn.npy` (articles, WIDTH), a block at a time."""
    source = ClusteredVectors(n_articles)
    vectors = np.lib.format.open_memmap(Path(folder, "drawn.npy"), "w+", np.dtype(precision), (n_articles, WIDTH))
    for first in range(0, n_articles, _BLOCK):
        n_rows = min(_BLOCK, n_articles - first)
        vectors[first : first + n_rows] = source.draw(n_rows, seed=(_ARTICLES_SEED, first))
    vectors.flush()


def build(folder: str, kind: str) -> dict:
    """Build the index of `drawn.npy` and save it to `index/`."""
    vectors = np.load(Path(folder, "drawn.npy"), mmap_mode="r", allow_pickle=False)
    ids = [f"a{row}" for row in range(len(vectors))]
    start = time.perf_counter()
    index = ArticleIndex.build(vectors, ids, device="cpu", config=IndexConfig(kind=kind))
    build_s = time.perf_counter() - start
    index.save(Path(folder, "index"))
    sizes = {path.name: path.stat().st_size for path in Path(folder, "index").iterdir()}
    return {"kind": index.kind, "build_s": build_s, "bytes": sizes, "peak_mib": peak_memory_mib()}


def search(folder: str, n_articles: int, n_queries: int) -> dict:
    """Measure `index/` beside FAISS's flat index of the first million of the same vectors: recall, and seconds a
    query."""
    import faiss

    queries = ClusteredVectors(n_articles).draw(n_queries, seed=(_QUERIES_SEED,))
    index = ArticleIndex.load(Path(folder, "index"), device="cpu")
    rows = np.stack([ranked.rows for ranked in index.search(queries, DEPTH)])  # (queries, DEPTH)
    peak_mib = peak_memory_mib()  # before the exact index comes
    exact = faiss.IndexFlatIP(WIDTH)
    drawn = np.load(Path(folder, "drawn.npy"), mmap_mode="r", allow_pickle=False)
    for _, tile in float32_tiles(drawn[:_MILLION]):
        exact.add(tile)
    recall = float(
        np.mean([np.isin(right, ours).mean() for right, ours in zip(_best(drawn, queries), rows, strict=True)])
    )
    timed = [queries[row : row + 1] for row in range(_TIMED)]
    works = {
        "ours": lambda _: [index.search(query, DEPTH) for query in timed],
        "faiss": lambda _: [exact.search(query, DEPTH) for query in timed],
    }
    scale = {"ours": 1 / _TIMED, "faiss": len(drawn) / exact.ntotal / _TIMED}
    seconds = {
        name: [scale[name] * value for value in values] for name, values in taking_turns(works, range(3)).items()
    }
    return {"recall": recall, "seconds": seconds, "peak_mib": peak_mib}


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _best(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return the rows of the best DEPTH of all vectors, (queries, DEPTH), by an exact search of tiles."""
    import faiss

    results = faiss.ResultHeap(len(queries), DEPTH, keep_max=True)
    for first, tile in float32_tiles(vectors):
        tile_scores, tile_rows = faiss.knn(queries, tile, DEPTH, metric=faiss.METRIC_INNER_PRODUCT)
        results.add_result(tile_scores, tile_rows + first)
    results.finalize()
    return results.I
