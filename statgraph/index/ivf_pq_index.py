"""The index of short codes in lists: codes in memory, the vectors themselves on disk for the candidates alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.config import IndexConfig, IvfPqConfig
from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index import mapped_vectors
from statgraph.index.blocks import float32_blocks, forget_pages
from statgraph.index.equal_length import EqualLength
from statgraph.index.faiss_files import read_faiss, vectors_view, write_faiss
from statgraph.index.list_centres import ListCentres
from statgraph.index.manifest import read_entries
from statgraph.index.rankings import NOT_FOUND, short_rankings, ties_by_row
from statgraph.index.row_selection import COMPARED_MOST, row_selector, widened

CANDIDATES_PER_HIT = 4
CODE_BITS = 4  # 16 centres for each part of a vector: what FAISS's fast scan compares within registers
LEAST_ARTICLES = 2**CODE_BITS
# Of 117 questions to French law a fixed 64 of 256 lists found 97.8 % of the best 100, lists of this much score, some 52
# of the 64, 97.2 %; of synthetic questions among a million articles in clusters 15 of 128 lists missed no more.
_SCORE_WORTH_READING = 0.2
_HELD_PER_CANDIDATE = 2
# Candidates that would have to gain more than so many standard deviations above the mean are not compared. Of 400 some
# 230 still are for 100 hits among a million synthetic articles, all for 100 of French law, 176 for 10 of these; of 256
# and 117 questions none found anything else than with all 400 compared, with 4 deviations neither.
_DEVIATIONS = 6
_SAMPLE_PER_LIST = 64
_SAMPLE_LEAST = _SAMPLE_PIECE = 16_384
_ROUNDS = 8


class IvfPqIndex:
    """Approximate search in a `faiss.IndexIVFPQFastScan`, on the CPU (Jégou et al., 2011; André et al., 2015).

    A search reads the lists whose centres are nearest to the query, fewer where only few are near at all, takes the
    candidates whose codes score best, and ranks these by the inner product with their vectors. It may miss articles;
    the scores of those it finds are exact up to the precision of the vectors on disk. Where it finds too few for a
    query, that one is searched exactly.
    """

    kind = "ivf-pq"
    in_memory = False

    def __init__(self, codes, vectors: np.ndarray, form: EqualLength, config: IvfPqConfig):
        self._codes = codes
        self._vectors = vectors  # (articles, width) float32 or float16, memory-mapped where it was read or given so
        self._form = form
        self._config = config
        codes.nprobe = config.probes  # for those who read the file with FAISS alone

    @classmethod
    def build(cls, vectors: np.ndarray, config: IndexConfig, *, device: str) -> IvfPqIndex:
        """Return the index of `vectors` (articles, width), which it keeps; `config` is what `chosen_index` returned.

        Centres and codes are learnt from a sample, which the same vectors give again.
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
        for _, block in float32_blocks(vectors):
            codes.add(form.held(block))
        if vectors.dtype == np.float16:  # widened, they would take twice the room and say nothing more
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
        vectors = mapped_vectors.read(folder, shape=(codes.ntotal, form.width), precision=config.precision)
        return cls(codes, vectors, form, config)

    def write(self, folder: Path) -> dict[str, object]:
        """Write `index.faiss` and `vectors.npy`; return what the manifest says of them."""
        write_faiss(self._codes, folder)
        mapped_vectors.write(folder, self._vectors)
        return {"held": asdict(self._form), "settings": asdict(self._config)}

    @property
    def config(self) -> IndexConfig:
        """Return the configuration of this kind with these settings."""
        return IndexConfig(kind=self.kind, ivf_pq=self._config)

    def __len__(self) -> int:
        return self._codes.ntotal

    @property
    def width(self) -> int:
        """Return the number of components of a vector."""
        return self._form.width

    @property
    def vectors(self) -> np.ndarray:
        """Return the vectors, (articles, width) float32 or float16, on disk where the index was read from a folder."""
        return self._vectors

    def search(self, queries: np.ndarray, k: int, allowed: AllowedRows | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, k), best first of those found, ties by row.

        `allowed`: as in `VectorIndex`. Of few articles each is compared; of more the more lists are read, the fewer
        there are.

        Raises:
            RunError: if a vector on disk is damaged.
        """
        n_candidates = max(self._config.rerank, CANDIDATES_PER_HIT * k)
        n_compared = n_candidates if allowed is None else max(n_candidates, COMPARED_MOST)
        if n_compared >= (len(self) if allowed is None else len(allowed)):
            return mapped_vectors.best(self._vectors, queries, k, allowed)
        asked = self._form.asked(queries)
        scores, lists = self._lists(asked, n_candidates, allowed)  # (queries, lists)
        by_codes, candidates = self._candidates(asked, n_candidates, scores, lists, allowed)  # (queries, candidates)
        scores = self._compared(queries, by_codes, candidates, k)
        scores, rows = ties_by_row(scores, candidates, k)
        short = short_rankings(rows, k)
        if len(short):
            scores[short], rows[short] = mapped_vectors.best(self._vectors, queries[short], k, allowed)
        return scores, rows

    def _lists(
        self, asked: np.ndarray, n_candidates: int, allowed: AllowedRows | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, numbers int64) of the lists that are read for each query, (queries, lists).

        NOT_FOUND stands for those that are not worth it: their centre scores less than a fifth of what the nearest has
        above the mean of all, and the nearer ones hold enough. Among some articles each may hold the best.
        """
        if allowed is not None:
            return self._centres.search(asked, min(self._codes.nlist, widened(self._config.probes, allowed, len(self))))
        scores, lists = self._centres.search(asked, min(self._codes.nlist, self._config.probes))
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

        selector = None if allowed is None else row_selector(allowed)
        parameters = faiss.SearchParametersIVF(nprobe=lists.shape[1], sel=selector)
        by_codes = np.empty((len(asked), n_candidates), dtype=np.float32)
        rows = np.empty((len(asked), n_candidates), dtype=np.int64)
        lists = np.ascontiguousarray(lists)
        pointers = [faiss.swig_ptr(array) for array in (asked, lists, scores, by_codes, rows)]
        # FAISS's own wrapper takes no parameters, and the number of lists would have to be set for all threads.
        self._codes.search_preassigned_c(len(asked), pointers[0], n_candidates, *pointers[1:], False, parameters)
        return by_codes, rows

    def _compared(self, queries: np.ndarray, by_codes: np.ndarray, candidates: np.ndarray, k: int) -> np.ndarray:
        """Return the inner products with the candidates' vectors, (queries, candidates) float32.

        Minus infinity stands for those that were not found, and for those that were not compared since they can hardly
        be among the best `k`. How much more the quarter with the best codes scores than by its codes shows how much
        more any other may.
        """
        n_first = candidates.shape[1] // CANDIDATES_PER_HIT  # at least k
        scores = mapped_vectors.inner_products(self._vectors, queries, candidates[:, :n_first])
        with np.errstate(invalid="ignore"):  # where fewer than these were found, there are no others either
            gained = scores.astype(np.float64) - by_codes[:, :n_first]
            most = gained.mean(axis=1) + _DEVIATIONS * gained.std(axis=1)  # in float64: copies of one reach its score
            reached = by_codes[:, n_first:] + most[:, None]
        lowest = np.partition(scores, n_first - k, axis=1)[:, n_first - k, None]
        others = np.where(reached < lowest, NOT_FOUND, candidates[:, n_first:])
        return np.hstack([scores, mapped_vectors.inner_products(self._vectors, queries, others)])

    @cached_property
    def _centres(self) -> ListCentres:
        import faiss

        return ListCentres(vectors_view(faiss.downcast_index(self._codes.quantizer), self._codes))

    @cached_property
    def _mean_centre(self) -> np.ndarray:
        import faiss

        return vectors_view(faiss.downcast_index(self._codes.quantizer), self._codes).mean(axis=0)  # (held_width,)

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
        forget_pages(vectors)  # a row of a mapped file brings its neighbours with it: in one go all would be there
    return sample
