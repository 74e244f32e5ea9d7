"""The index for millions of articles: product-quantized codes in memory, the vectors of candidates read from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError, marked, option
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.vectors import (
    INDEX_FILE,
    REMEDY,
    TILE_ROWS,
    existing,
    float32_tiles,
    forget_pages,
    read_faiss,
    selector_of,
)
from statgraph.settings import check_settings, overlaid

if TYPE_CHECKING:
    import faiss

VECTORS_FILE = "vectors.npy"
# Comparing this many vectors of 384 takes some milliseconds, as a search of lists does.
MAX_COMPARED = 16_384
CANDIDATES_PER_HIT = 4
CODE_BITS = 4  # 16 centres for each part of a vector: what FAISS's fast scan compares within registers
MIN_ARTICLES = 2**CODE_BITS
_SAMPLE_PER_LIST = 64
_MIN_SAMPLE = 16_384
_ROUNDS = 8
_COMPONENTS_PER_BYTE = 4
_MIN_PROBES = 64
_PROBED_SHARE = 8  # one list in so many


class IvfPqIndex:
    """Approximate search in a `faiss.IndexIVFPQFastScan`, on the CPU (Jégou et al., 2011; André et al., 2015).

    A search reads the lists whose centres are nearest to the query, takes the candidates whose codes score best, and
    ranks these by the inner product with their vectors. It may miss articles; the scores of those it returns are exact
    up to the precision of the vectors on disk. A query with too few candidates is searched exactly.
    """

    kind = "ivf-pq"
    reads_all = False

    def __init__(self, codes: faiss.IndexIVFPQFastScan, vectors: np.ndarray, config: IvfPqConfig):
        self.vectors = vectors  # (articles, width) float32 or float16, memory-mapped if it was read or given so
        self.width = vectors.shape[1]
        self.precision = vectors.dtype.name
        self.config = IndexConfig(kind=self.kind, ivf_pq=config)
        self._codes = codes  # of vectors with zeros after them, up to `codes.d`
        codes.nprobe = config.probes  # for those who read the file with FAISS alone

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> IvfPqIndex:
        """Return the index of `vectors` (articles, width), which it keeps; `config` is what `chosen_index` returned.

        Centres and codes are learnt from a sample that depends on the vectors alone.
        """
        import faiss

        settings = config.ivf_pq
        n_parts = 2 * settings.code_bytes
        width = -(-vectors.shape[1] // n_parts) * n_parts
        codes = faiss.IndexIVFPQFastScan(
            faiss.IndexFlatIP(width), width, settings.lists, n_parts, CODE_BITS, faiss.METRIC_INNER_PRODUCT
        )
        codes.cp.niter, codes.cp.spherical = _ROUNDS, True
        codes.cp.min_points_per_centroid = codes.pq.cp.min_points_per_centroid = 1  # else FAISS prints a warning
        sample = _sample(vectors, max(_SAMPLE_PER_LIST * settings.lists, _MIN_SAMPLE))
        codes.train(_padded(sample, width))
        for _, tile in float32_tiles(vectors):
            codes.add(_padded(tile, width))
        if vectors.dtype == np.float16:  # as float32 they would take twice the space and hold no more
            settings = replace(settings, precision="float16")
        return cls(codes, vectors.astype(settings.precision, copy=False), settings)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> IvfPqIndex:
        """Return the index that `write` left in a folder; the vectors stay on disk.

        Raises:
            RunError: if a file is missing or damaged, or does not fit the manifest.
        """
        import faiss

        codes = read_faiss(folder, faiss.IndexIVFPQFastScan)
        place = folder / artifacts.MANIFEST
        width, saved = manifest.get("width"), manifest.get("settings")
        try:
            if not isinstance(saved, dict) or not isinstance(width, int) or not 0 < width <= codes.d:
                raise UsageError(f"no settings, or vectors of width {width} for codes of width {codes.d}")
            settings = overlaid(IvfPqConfig(), saved, place=str(place))
        except UsageError as error:
            raise RunError(f"{place}: damaged ({marked(error)}); {REMEDY}") from None
        shape = (codes.ntotal, width)
        path = existing(folder / VECTORS_FILE)
        return cls(codes, artifacts.read_array(path, shape, settings.precision, remedy=REMEDY, mapped=True), settings)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss` and `vectors.npy`; return what the manifest says of them."""
        import faiss

        faiss.write_index(self._codes, str(folder / INDEX_FILE))
        np.save(folder / VECTORS_FILE, self.vectors, allow_pickle=False)
        return {"settings": asdict(self.config.ivf_pq)}

    def __len__(self) -> int:
        return int(self._codes.ntotal)

    def take(self, rows: np.ndarray) -> np.ndarray:
        """Return the vectors of some rows, (rows, width) float32."""
        vectors: np.ndarray = self.vectors[rows].astype(np.float32, copy=False)
        if len(rows) == TILE_ROWS:  # one of several parts
            forget_pages(self.vectors)
        return vectors

    def candidates(self, queries: np.ndarray, k: int, allowed: AllowedRows | None) -> Sequence[np.ndarray]:
        """Return the rows of each query (queries, width) that are to be compared with it: the best codes in the nearest
        lists, of few allowed articles and where the lists hold too few all.

        The number of lists read grows as the allowed rows become fewer.
        """
        import faiss

        depth = max(self.config.ivf_pq.rerank, CANDIDATES_PER_HIT * k)
        rows = np.arange(len(self)) if allowed is None else allowed.rows
        if len(rows) <= (depth if allowed is None else max(depth, MAX_COMPARED)):
            return [rows] * len(queries)
        # Meet as many of the allowed articles as `probes` lists hold of all.
        probes = min(self._codes.nlist, -(-self.config.ivf_pq.probes * len(self) // len(rows)))
        parameters = faiss.SearchParametersIVF(nprobe=probes, sel=selector_of(allowed))  # type: ignore[call-arg]
        found = self._codes.search(_padded(queries, self._codes.d), depth, params=parameters)[1]  # (queries, depth)
        candidates = (own[own >= 0] for own in found)  # -1 where there are fewer
        return [own if len(own) >= k else rows for own in candidates]


def _padded(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return vectors with zeros after them, (vectors, width) float32."""
    return np.pad(np.asarray(vectors, dtype=np.float32), ((0, 0), (0, width - vectors.shape[1])))


def _sample(vectors: np.ndarray, n_rows: int) -> np.ndarray:
    """Return `n_rows` of the vectors, (rows, width) float32, or all where there are fewer; the same ones each time."""
    chosen = np.zeros(len(vectors), dtype=bool)
    chosen[np.random.default_rng(0).permutation(len(vectors))[:n_rows]] = True
    return np.concatenate([tile[chosen[first : first + len(tile)]] for first, tile in float32_tiles(vectors)])


def chosen_index(config: IndexConfig, n_articles: int, width: int) -> IndexConfig:
    """Return the configuration with `auto` resolved and every setting that depends on the size filled in.

    Raises UsageError if a setting is out of range, RunError if there are too few articles for the kind.
    """
    check_settings(config)
    kind, settings = config.kind, config.ivf_pq
    if kind == "auto":
        kind = "flat" if n_articles <= max(config.flat_most, MIN_ARTICLES) else "ivf-pq"
    if kind != "ivf-pq":
        return replace(config, kind=kind)
    if n_articles < MIN_ARTICLES:
        raise RunError(
            f"index: ivf-pq needs at least {MIN_ARTICLES} articles to learn its codes (got {n_articles}); "
            f"use {option('kind')} flat"
        )
    lists = settings.lists or default_lists(n_articles)
    if lists > n_articles:
        raise UsageError(f"ivf_pq.lists: must be at most {n_articles}, the number of articles (got {lists})")
    probes = min(lists, settings.probes or default_probes(lists))
    code_bytes = settings.code_bytes or -(-width // _COMPONENTS_PER_BYTE)
    if 2 * code_bytes > width + 1:
        raise UsageError(
            f"ivf_pq.code_bytes: must be at most {(width + 1) // 2}, one for two of {width} components "
            f"(got {code_bytes})"
        )
    return replace(config, kind=kind, ivf_pq=replace(settings, lists=lists, probes=probes, code_bytes=code_bytes))


def default_lists(n_articles: int) -> int:
    """Return how many lists an approximate index has: the power of two that is at most 2 * sqrt(articles)."""
    lists: int = 2 ** (int(2 * n_articles**0.5).bit_length() - 1)
    return lists


def default_probes(lists: int) -> int:
    """Return how many of its lists a search reads: an eighth, but at least 64 where there are as many."""
    return min(lists, max(_MIN_PROBES, lists // _PROBED_SHARE))
