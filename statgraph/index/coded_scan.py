"""Exact search for a few questions on the CPU: 8-bit codes find the candidates, a product where they cannot."""

from __future__ import annotations

import threading

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.exact_scan import ExactScan, rounding_share
from statgraph.index.rankings import ties_by_row
from statgraph.index.threads import threads_for
from statgraph.index.vector_codes import VectorCodes

_FEW_QUERIES = 4  # of 8 a product on two threads takes as long, on more threads fewer
_LEAST_VALUES = 1 << 20  # 2,731 vectors of 384: a scan of fewer spares some tenth of a millisecond
_SEARCHES_BEFORE = 7  # making codes takes as long as 50 products; a command that asks once never does
_CANDIDATES_LEAST, _CANDIDATES_PER_HIT = 64, 4  # prove the best 10 or 100 of 95 % of questions to French law
_TIMES_WIDENED = 4
_CANDIDATES_SHARE = 8  # of more than one article in so many, sorting them takes longer than a product
_TRIED_QUERIES = 64
_WIDEST = 1 << 15  # FAISS may add the products of codes up as integers of 32 bits
_OVERFLOW = 2.0**127


class CodedScan(ExactScan):
    """Exact search as in `ExactScan`, to the last bit, that reads a quarter of the memory for a few questions.

    A product takes as long as it takes to read all vectors. Their codes find candidates too, whose scores are computed
    as they are after a product. The inner product of any other article is at most the ceiling that `VectorCodes` gives,
    its score at most `_rounding` above that; half of this is spare, far more than float64 rounds in the ceiling. Where
    the sum is below the k-th best score, no other article belongs to the best or ties with them. Where it is not, more
    candidates are taken, and then a product.

    Codes are made by one search after a few others; until they are there, those of other threads go on with products.
    Where they prove less than half of the first rankings, as when a few vectors are far longer, they are given up.
    """

    def __init__(self, vectors: np.ndarray):
        super().__init__(vectors)
        width = vectors.shape[1]
        self._pays = vectors.size >= _LEAST_VALUES and width <= _WIDEST and bool(np.isfinite(self._longest))
        self._most_rounding = rounding_share(width) * _OVERFLOW
        self._codes: VectorCodes | None = None
        self._counting = threading.Lock()
        self._n_searches = self._n_queries = self._n_proven = 0

    def search(
        self, queries: np.ndarray, depth: int, allowed: AllowedRows | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first, ties by row."""
        n_candidates = max(_CANDIDATES_LEAST, _CANDIDATES_PER_HIT * depth)
        few = 0 < len(queries) <= _FEW_QUERIES and n_candidates * _CANDIDATES_SHARE <= len(self._vectors)
        codes = self._codes_when_due() if few and allowed is None and self._pays else None
        if codes is None:
            return super().search(queries, depth, allowed)
        queries = np.ascontiguousarray(queries)
        scores, rows, proven = self._best_by_codes(codes, queries, depth, n_candidates)
        n_candidates *= _TIMES_WIDENED
        if not proven.all() and n_candidates * _CANDIDATES_SHARE <= len(self._vectors):
            left = np.flatnonzero(~proven)
            scores[left], rows[left], proven[left] = self._best_by_codes(codes, queries[left], depth, n_candidates)
        self._give_up_if_vain(proven)
        if not proven.all():
            left = np.flatnonzero(~proven)
            scores[left], rows[left] = super().search(queries[left], depth)
        return scores, rows

    def _best_by_codes(
        self, codes: VectorCodes, queries: np.ndarray, depth: int, n_candidates: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (scores, rows, whether no other article belongs to them): (queries, depth) twice, (queries,)."""
        with threads_for(1):
            candidates, ceilings = codes.best(queries, n_candidates)
            scores, rows = ties_by_row(self._compare(queries, candidates), candidates)
        rounding = self._rounding(queries)
        # Had a score overflowed, it would say nothing of the inner product.
        proven = (rounding < self._most_rounding) & (ceilings + rounding < scores[:, depth - 1])
        return scores[:, :depth].copy(), rows[:, :depth].copy(), proven

    def _codes_when_due(self) -> VectorCodes | None:
        """Return the codes; None for the first few searches, and while another thread makes them."""
        if self._codes is None:
            with self._counting:
                self._n_searches += 1
                due = self._n_searches == _SEARCHES_BEFORE + 1
            if due:
                self._codes = VectorCodes(self._vectors)
        return self._codes

    def _give_up_if_vain(self, proven: np.ndarray) -> None:
        with self._counting:
            self._n_queries += len(proven)
            self._n_proven += int(proven.sum())
            if self._n_queries >= _TRIED_QUERIES and 2 * self._n_proven < self._n_queries:
                self._codes = None  # made once
