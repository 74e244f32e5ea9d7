"""The index for millions of articles: product-quantized codes in memory, the vectors of candidates read from disk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError
from statgraph.index.equal_length import EqualLength
from statgraph.index.exact_search import exact_search, inner_products
from statgraph.index.index_files import (
    REMEDY,
    VECTORS_FILE,
    read_entries,
    read_faiss,
    read_vectors,
    vectors_view,
    write_faiss,
    write_vectors,
)
from statgraph.index.rankings import NOT_FOUND, ties_by_row
from statgraph.index.vectors import float32_tiles, forget_pages

# Comparing this many vectors of 384 takes some milliseconds, as a search of lists does.
COMPARED_MOST = 16_384
CANDIDATES_PER_HIT = 4
CODE_BITS = 4  # 16 centres for each part of a vector: what FAISS's fast scan compares within registers
LEAST_ARTICLES = 2**CODE_BITS
# For 117 questions to French law, 64 of 256 lists found 97.8 % of the best 100; those with this much score (52 of them
# on average) found 97.2 %. For synthetic questions to a million clustered articles, 15 of 128 lists missed no more.
_SCORE_WORTH_READING = 0.2
_HELD_PER_CANDIDATE = 2
# Candidates that would have to gain more than this many standard deviations above the mean are not compared. Of 400,
# about 230 still are for 100 hits among a million synthetic articles, all for 100 of French law, 176 for 10 of these.
# None of 256 and 117 questions found anything else than with all 400 compared, nor did any with 4 deviations.
_DEVIATIONS = 6
_SAMPLE_PER_LIST = 64
_SAMPLE_LEAST = _SAMPLE_PIECE = 16_384
_ROUNDS = 8


class IvfPqIndex:
    """Approximate search in a `faiss.IndexIVFPQFastScan`, on the CPU (Jégou et al., 2011; André et al., 2015).

    A search reads the lists whose centres are nearest to the query (fewer where few are near), takes the candidates
    whose codes score best, and ranks these by the inner product with their vectors. It may miss articles; the scores of
    those it finds are exact up to the precision of the vectors on disk. A query for which it finds too few is searched
    exactly.
    """

    kind = "ivf-pq"
    in_memory = False

    def __init__(self, codes, vectors: np.ndarray, form: EqualLength, config: IvfPqConfig):
        self.vectors = vectors  # (articles, width) float32 or float16, memory-mapped if it was read or given so
        self.width = form.width
        self.config = IndexConfig(kind=self.kind, ivf_pq=config)
        self._codes = codes
        self._form = form
        codes.nprobe = config.probes  # for those who read the file with FAISS alone

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> IvfPqIndex:
        """Return the index of `vectors` (articles, width), which it keeps; `config` is what `chosen_index` returned.

        Centres and codes are learnt from a sample that depends on the vectors alone.
        """
        import faiss

        settings = config.ivf_pq
        n_parts = 2 * settings.code_bytes
        form = EqualLength.of(vectors, n_parts)
        centres = faiss.IndexFlatIP(form.held_width)
        codes = faiss.IndexIVFPQFastScan(
            centres, form.held_width, settings.lists, n_parts, CODE_BITS, faiss.METRIC_INNER_PRODUCT
        )
        codes.cp.niter, codes.cp.spherical = _ROUNDS, True
        codes.cp.min_points_per_centroid = codes.pq.cp.min_points_per_centroid = 1  # else FAISS prints a warning
        codes.train(form.held(_sample(vectors, max(_SAMPLE_PER_LIST * settings.lists, _SAMPLE_LEAST))))
        for _, tile in float32_tiles(vectors):
            codes.add(form.held(tile))
        if vectors.dtype == np.float16:  # as float32 they would take twice the space and hold no more
            settings = replace(settings, precision="float16")
        return cls(codes, vectors.astype(settings.precision, copy=False), form, settings)

    @classmethod
    def read(cls, folder: Path, manifest: Mapping[str, object], *, device: str) -> IvfPqIndex:
        """Return the index that `write` left in a folder; the vectors stay on disk.

        Raises:
            RunError: if a file is missing or damaged, or does not fit the manifest.
        """
        codes = read_faiss(folder, "IndexIVFPQFastScan")
        form, config = read_entries(folder, manifest, IvfPqConfig, held_width=codes.d)
        vectors = read_vectors(folder, shape=(codes.ntotal, form.width), precision=config.precision)
        return cls(codes, vectors, form, config)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss` and `vectors.npy`; return what the manifest says of them."""
        write_faiss(self._codes, folder)
        write_vectors(folder, self.vectors)
        return {"held": asdict(self._form), "settings": asdict(self.config.ivf_pq)}

    def __len__(self) -> int:
        return self._codes.ntotal

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first of those found, ties by row.

        Few allowed rows are compared one by one; of more, the number of lists read grows as the rows become fewer.

        Raises:
            RunError: if a vector on disk is damaged.
        """
        n_candidates = max(self.config.ivf_pq.rerank, CANDIDATES_PER_HIT * k)
        n_compared = n_candidates if allowed is None else max(n_candidates, COMPARED_MOST)
        if n_compared >= (len(self) if allowed is None else len(allowed)):
            return self._exact(queries, k, allowed)
        asked = self._form.asked(queries)
        scores, lists = self._lists(asked, n_candidates, allowed)  # (queries, lists)
        by_codes, candidates = self._candidates(asked, n_candidates, scores, lists, allowed)  # (queries, candidates)
        scores = self._compared(queries, by_codes, candidates, k)
        scores, rows = ties_by_row(scores, candidates, k)
        short = np.flatnonzero((rows == NOT_FOUND).any(axis=1))
        if len(short):
            scores[short], rows[short] = self._exact(queries[short], k, allowed)
        return scores, rows

    def _exact(self, queries: np.ndarray, k: int, allowed: AllowedRows | None) -> tuple[np.ndarray, np.ndarray]:
        scores, rows = exact_search(self.vectors, queries, k, allowed)
        _check_finite(scores)
        return scores, rows

    def _lists(
        self, asked: np.ndarray, n_candidates: int, allowed: AllowedRows | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, numbers int64) of the lists that are read for each query, (queries, lists).

        NOT_FOUND stands for those not worth reading: their centre scores less than a fifth of what the nearest has
        above the mean of all, and the nearer lists hold enough. With allowed rows any list may hold the best.
        """
        probes = self.config.ivf_pq.probes
        if allowed is not None:  # meet as many of the allowed articles as `probes` lists hold of all
            probes = -(-probes * len(self) // len(allowed))
        scores, lists = exact_search(self._centres, asked, min(self._codes.nlist, probes))
        if allowed is not None:
            return scores, lists
        mean = (asked @ self._mean_centre)[:, None]
        held = np.cumsum(self._list_sizes[lists], axis=1) - self._list_sizes[lists]  # by the lists before
        far = scores - mean < _SCORE_WORTH_READING * (scores[:, :1] - mean)
        return scores, np.where(far & (held >= _HELD_PER_CANDIDATE * n_candidates), NOT_FOUND, lists)

    def _candidates(
        self, asked: np.ndarray, n_candidates: int, scores: np.ndarray, lists: np.ndarray, allowed: AllowedRows | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores by code float32, rows int64) of the best codes in these lists, each (queries, candidates).

        Best first; NOT_FOUND where there are too few.
        """
        import faiss

        selector = None if allowed is None else faiss.IDSelectorBitmap(np.packbits(allowed.mask, bitorder="little"))
        parameters = faiss.SearchParametersIVF(nprobe=lists.shape[1], sel=selector)
        by_codes = np.empty((len(asked), n_candidates), dtype=np.float32)
        rows = np.empty((len(asked), n_candidates), dtype=np.int64)
        lists = np.ascontiguousarray(lists)
        pointers = [faiss.swig_ptr(array) for array in (asked, lists, scores, by_codes, rows)]
        # FAISS's own wrapper takes no parameters; the number of lists would then be set for all threads.
        self._codes.search_preassigned_c(len(asked), pointers[0], n_candidates, *pointers[1:], False, parameters)
        return by_codes, rows

    def _compared(self, queries: np.ndarray, by_codes: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
        """Return the inner products with the candidates' vectors, (queries, candidates) float32.

        Minus infinity stands for those not found, and for those not compared because they can hardly be among the best
        `k`: the quarter with the best codes shows by how much a score may exceed the one by codes.

        Raises:
            RunError: if a vector on disk is damaged.
        """
        n_first = candidates.shape[1] // CANDIDATES_PER_HIT  # at least k
        scores = self._products(queries, candidates[:, :n_first])
        with np.errstate(invalid="ignore"):  # where fewer than these were found, there are no others either
            gained = scores.astype(np.float64) - by_codes[:, :n_first]
            most = gained.mean(axis=1) + _DEVIATIONS * gained.std(axis=1)  # in float64: copies of one reach its score
            reached = by_codes[:, n_first:] + most[:, None]
        lowest = np.partition(scores, n_first - k, axis=1)[:, n_first - k, None]
        others = np.where(reached < lowest, NOT_FOUND, candidates[:, n_first:])
        return np.hstack([scores, self._products(queries, others)])

    def _products(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        products = inner_products(self.vectors, queries, rows)
        _check_finite(products[rows != NOT_FOUND])
        return products

    @cached_property
    def _centres(self) -> np.ndarray:
        import faiss

        return vectors_view(faiss.downcast_index(self._codes.quantizer), self._codes)  # (lists, held_width)

    @cached_property
    def _mean_centre(self) -> np.ndarray:
        return self._centres.mean(axis=0)  # (held_width,)

    @cached_property
    def _list_sizes(self) -> np.ndarray:
        sizes = self._codes.invlists.list_size
        return np.array([sizes(number) for number in range(self._codes.nlist)])  # (lists,)


def _sample(vectors: np.ndarray, n_rows: int) -> np.ndarray:
    """Return `n_rows` of the vectors, (rows, width), or all where there are fewer; the same ones each time."""
    if n_rows >= len(vectors):
        return np.asarray(vectors)
    rows = np.sort(np.random.default_rng(0).choice(len(vectors), n_rows, replace=False))
    sample = np.empty((n_rows, vectors.shape[1]), dtype=vectors.dtype)
    for start in range(0, n_rows, _SAMPLE_PIECE):
        piece = slice(start, start + _SAMPLE_PIECE)
        sample[piece] = vectors[rows[piece]]
        forget_pages(vectors)  # each row read from a mapped file brings its neighbours into memory
    return sample


def _check_finite(scores: np.ndarray) -> None:
    if not np.isfinite(scores).all():
        raise RunError(f"index: {VECTORS_FILE} holds a vector that is not finite; {REMEDY}")
