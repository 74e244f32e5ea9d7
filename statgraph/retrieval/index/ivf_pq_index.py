"""The index for millions of articles: product-quantized codes in memory, the vectors of candidates read from disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.errors import RunError, UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.retrieval.index.vectors import (
    INDEX_FILE,
    REMEDY,
    VECTORS_FILE,
    best_of,
    existing,
    float32_tiles,
    read_faiss,
)
from statgraph.settings import overlaid

# Comparing this many vectors of 384 takes some milliseconds, as a search of lists does.
COMPARED_MOST = 16_384
CANDIDATES_PER_HIT = 4
CODE_BITS = 4  # 16 centres for each part of a vector: what FAISS's fast scan compares within registers
MIN_ARTICLES = 2**CODE_BITS
_SAMPLE_PER_LIST = 64
_MIN_SAMPLE = 16_384
_ROUNDS = 8


class IvfPqIndex:
    """Approximate search in a `faiss.IndexIVFPQFastScan`, on the CPU (Jégou et al., 2011; André et al., 2015).

    A search reads the lists whose centres are nearest to the query, takes the candidates whose codes score best, and
    ranks these by the inner product with their vectors. It may miss articles; the scores of those it returns are exact
    up to the precision of the vectors on disk. A query with too few candidates is searched exactly.
    """

    kind = "ivf-pq"
    reads_all = False

    def __init__(self, codes, vectors: np.ndarray, config: IvfPqConfig):
        self.vectors = vectors  # (articles, width) float32 or float16, memory-mapped if it was read or given so
        self.width = vectors.shape[1]
        self.config = IndexConfig(kind=self.kind, ivf_pq=config)
        # Of vectors with zeros after them up to `codes.d`.
        self._codes = codes
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
        codes = read_faiss(folder, "IndexIVFPQFastScan")
        place = folder / artifacts.MANIFEST
        width, saved = manifest.get("width"), manifest.get("settings")
        try:
            if not isinstance(saved, dict) or not isinstance(width, int) or not 0 < width <= codes.d:
                raise UsageError(f"no settings, or vectors of width {width} for codes of width {codes.d}")
            settings = overlaid(IvfPqConfig(), saved, place=str(place))
        except UsageError as error:
            raise RunError(f"{place}: damaged ({error}); {REMEDY}") from None
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
        return self._codes.ntotal

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` candidates of each query (queries, width), best first, ties by row.

        Few allowed rows are compared one by one; of more, the number of lists read grows as the rows become fewer.

        Raises:
            RunError: if a vector on disk is damaged.
        """
        depth = max(self.config.ivf_pq.rerank, CANDIDATES_PER_HIT * k)
        rows = np.arange(len(self)) if allowed is None else allowed.rows
        if len(rows) <= (depth if allowed is None else max(depth, COMPARED_MOST)):
            return [best_of(self.vectors, query, rows, k) for query in queries]
        candidates = self._candidates(queries, depth, allowed)  # (queries, depth)
        ranked = []
        for query, own in zip(queries, candidates, strict=True):
            own = own[own >= 0]
            ranked.append(best_of(self.vectors, query, own if len(own) >= k else rows, k))
        return ranked

    def _candidates(self, queries: np.ndarray, depth: int, allowed: AllowedRows | None) -> np.ndarray:
        """Return the rows of the best codes in the nearest lists, (queries, depth) int64; -1 where there are fewer."""
        import faiss

        probes, selector = self.config.ivf_pq.probes, None
        if allowed is not None:  # meet as many of the allowed articles as `probes` lists hold of all
            probes = min(self._codes.nlist, -(-probes * len(self) // len(allowed)))
            selector = faiss.IDSelectorBitmap(np.packbits(allowed.mask, bitorder="little"))
        parameters = faiss.SearchParametersIVF(nprobe=probes, sel=selector)
        return self._codes.search(_padded(queries, self._codes.d), depth, params=parameters)[1]


def _padded(vectors: np.ndarray, width: int) -> np.ndarray:
    """Return vectors with zeros after them, (vectors, width) float32."""
    return np.pad(np.asarray(vectors, dtype=np.float32), ((0, 0), (0, width - vectors.shape[1])))


def _sample(vectors: np.ndarray, n_rows: int) -> np.ndarray:
    """Return `n_rows` of the vectors, (rows, width) float32, or all where there are fewer; the same ones each time."""
    chosen = np.zeros(len(vectors), dtype=bool)
    chosen[np.random.default_rng(0).permutation(len(vectors))[:n_rows]] = True
    return np.concatenate([tile[chosen[first : first + len(tile)]] for first, tile in float32_tiles(vectors)])
