"""One index of synthetic vectors in a process of its own: `python -m benchmarks.index_trial STEP FOLDER [JSON]`.

The steps share a folder: `draw` writes the vectors, `build` makes an index of them and saves it, `search` measures it
beside an exact one. Each prints one JSON object, with the peak memory of its process and the load of the machine.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from benchmarks.processes import print_step
from benchmarks.rows import taking_turns
from statgraph.config import IndexConfig
from statgraph.memory import peak_memory_mib
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.vectors import float32_tiles, vectors_view
from statgraph.settings import overlaid

WIDTH = 384
_ARTICLES_PER_SECTION, _ARTICLES_PER_TOPIC = 100, 10_000
_LEAST_SECTIONS, _LEAST_TOPICS = 40, 4
# Distances relative to the length of a centre; an article is then some 0.8 (cosine) from its section's centre.
_SECTION_SPREAD, _ARTICLE_SPREAD = 0.9, 0.7
DEPTH = 100
_BLOCK = 100_000
_ARTICLES_SEED, _QUERIES_SEED = 1, 2


class ClusteredVectors:
    """Draws articles, and questions that lie among them, in blocks: never all at once."""

    def __init__(self, n_articles: int, *, seed: int = 0):
        rng = np.random.default_rng(seed)
        topics = _unit(rng.standard_normal((max(_LEAST_TOPICS, n_articles // _ARTICLES_PER_TOPIC), WIDTH), np.float32))
        n_sections = max(_LEAST_SECTIONS, n_articles // _ARTICLES_PER_SECTION)
        around = _unit(rng.standard_normal((n_sections, WIDTH), np.float32))
        self._sections = _unit(topics[rng.integers(len(topics), size=n_sections)] + _SECTION_SPREAD * around)

    def draw(self, n_vectors: int, *, seed: tuple[int, ...]) -> np.ndarray:
        """Return unit vectors (vectors, WIDTH) float32 of sections drawn evenly."""
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((n_vectors, WIDTH), np.float32)
        vectors *= _ARTICLE_SPREAD / WIDTH**0.5
        vectors += self._sections[rng.integers(len(self._sections), size=n_vectors)]
        return _unit(vectors)


def draw(folder: Path, *, n_articles: int, precision: str) -> dict:
    """Write `drawn.npy` (articles, WIDTH), a block at a time."""
    source = ClusteredVectors(n_articles)
    vectors = np.lib.format.open_memmap(folder / "drawn.npy", "w+", np.dtype(precision), (n_articles, WIDTH))
    for first in range(0, n_articles, _BLOCK):
        n_rows = min(_BLOCK, n_articles - first)
        vectors[first : first + n_rows] = source.draw(n_rows, seed=(_ARTICLES_SEED, first))
    vectors.flush()
    return {}


def build(folder: Path, *, config: dict) -> dict:
    """Build the index of `drawn.npy` and save it to `index/`."""
    vectors = np.load(folder / "drawn.npy", mmap_mode="r", allow_pickle=False)
    ids = [f"a{row}" for row in range(len(vectors))]
    start = time.perf_counter()
    index = ArticleIndex.build(vectors, ids, device="cpu", config=overlaid(IndexConfig(), config, place="trial"))
    build_s = time.perf_counter() - start
    index.save(folder / "index")
    sizes = {path.name: path.stat().st_size for path in (folder / "index").iterdir()}
    return {"kind": index.kind, "build_s": build_s, "bytes": sizes}


def search(
    folder: Path, *, n_articles: int, n_queries: int, n_single: int, n_batch: int, rounds: int, n_exact: int
) -> dict:
    """Measure `index/` beside exact searches of the same vectors: recall, and seconds a query, alone and together.

    The exact ones are FAISS's flat index, and a matrix product with `topk` in torch, over the same memory. They hold
    the first `n_exact` vectors; their seconds are multiplied by how many times more there are.
    """
    import faiss
    import torch

    queries = ClusteredVectors(n_articles).draw(n_queries, seed=(_QUERIES_SEED,))
    index = ArticleIndex.load(folder / "index", device="cpu")
    found = _rows(index, queries)
    peak_mib = peak_memory_mib()  # before the exact index comes
    exact = faiss.IndexFlatIP(WIDTH)
    drawn = np.load(folder / "drawn.npy", mmap_mode="r", allow_pickle=False)
    for _, tile in float32_tiles(drawn[:n_exact]):
        exact.add(tile)
    vectors = torch.from_numpy(vectors_view(exact))
    searches = {
        "ours": lambda asked: index.search(asked, DEPTH),
        "faiss": lambda asked: exact.search(asked, DEPTH)[1],
        "torch": lambda asked: torch.topk(torch.from_numpy(asked) @ vectors.T, DEPTH).indices.numpy(),
    }
    best = _best(drawn, queries)
    recall = float(np.mean([np.isin(rows, others).mean() for rows, others in zip(best, found, strict=True)]))
    singles = [queries[row : row + 1] for row in range(n_single)]
    alone = taking_turns(
        {name: lambda one=one: [one(query) for query in singles] for name, one in searches.items()}, rounds=rounds
    )
    batch = queries[:n_batch]
    together = taking_turns({name: lambda one=one: one(batch) for name, one in searches.items()}, rounds=rounds)
    scale = {name: 1.0 if name == "ours" else len(drawn) / exact.ntotal for name in searches}
    return {
        "recall": recall,
        "alone_s": {name: [scale[name] * value / n_single for value in values] for name, values in alone.items()},
        "together_s": {name: [scale[name] * value / n_batch for value in values] for name, values in together.items()},
        "n_exact": exact.ntotal,
        "search_peak_mib": peak_mib,
    }


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _rows(index: ArticleIndex, queries: np.ndarray) -> np.ndarray:
    return np.stack([ranked.rows for ranked in index.search(queries, DEPTH)])  # (queries, DEPTH)


def _best(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Return the rows of the best DEPTH of all vectors, (queries, DEPTH), by products of tiles."""
    import torch

    asked = torch.from_numpy(queries)
    scores, rows = torch.empty(len(queries), 0), torch.empty(len(queries), 0, dtype=torch.int64)
    for first, tile in float32_tiles(vectors):
        products = asked @ torch.tensor(tile).T  # (queries, tile rows)
        found = torch.topk(products, min(DEPTH, len(tile)))
        scores, rows = torch.hstack([scores, found.values]), torch.hstack([rows, found.indices + first])
        scores, places = torch.topk(scores, min(DEPTH, scores.shape[1]))
        rows = rows.gather(1, places)
    return rows.numpy()


if __name__ == "__main__":
    print_step({"draw": draw, "build": build, "search": search})
