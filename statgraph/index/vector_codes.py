"""Vectors as 8-bit codes, which find the articles that may be the best, and how good any other can be at most."""

from __future__ import annotations

import numpy as np

from statgraph.index.exact_scan import rounding_share
from statgraph.index.vector_checks import float64_lengths

_HIGHEST = 127  # of a code, which is a whole number from -127 to 127
_BLOCK_VALUES = 1 << 15  # coded at a time: 256 KiB as float64 stay in the caches
_TINY = 1e-300  # instead of a query's greatest component where that is 0


class VectorCodes:
    """Codes of vectors (articles, width), finite float32, in a `faiss.IndexScalarQuantizer`: a quarter of their memory.

    Article i's vector is a_i = middle + steps * c_i + e_i, with a step for each dimension, whole numbers c_i, and e_i
    left over. A query q takes the steps over and is rounded likewise: q * steps = scale * u + r, with whole numbers u,
    since some of FAISS's routines would round the query themselves. Let c be the mean of all c_i. Then

        q . a_i = q . middle + r . c + scale * (u . c_i) + r . (c_i - c) + q . e_i

    The first two are the same for all articles, and FAISS scans for the third. The others are at most |r| max |c_i - c|
    and |q| max |e_i| (Cauchy and Schwarz), which are computed from the vectors and the query themselves. The third is a
    sum of whole numbers, which float32 rounds only above 2^24, by no more than `rounding_share`.
    """

    def __init__(self, vectors: np.ndarray):
        import faiss

        lowest, highest = (ends.astype(np.float64) for ends in (vectors.min(axis=0), vectors.max(axis=0)))
        self._middle = (lowest + highest) / 2  # (width,), as all that follow
        self._steps = (highest - lowest) / (2 * _HIGHEST)
        per_step = 1 / np.where(self._steps > 0, self._steps, 1)
        self._mean = (vectors.mean(axis=0, dtype=np.float64) - self._middle) * per_step

        stored = np.empty(vectors.shape, dtype=np.uint8)
        longest = self._farthest = self._left_over = 0.0
        n_rows = max(1, _BLOCK_VALUES // vectors.shape[1])
        for start in range(0, len(vectors), n_rows):
            offsets = vectors[start : start + n_rows] - self._middle
            codes = np.rint(offsets * per_step)
            stored[start : start + n_rows] = codes + 128  # as FAISS stores whole numbers from -128
            longest = max(longest, float64_lengths(codes).max())
            self._left_over = max(self._left_over, float64_lengths(offsets - self._steps * codes).max())
            self._farthest = max(self._farthest, float64_lengths(codes - self._mean).max())
        width = vectors.shape[1]
        self._rounding = rounding_share(width) * _HIGHEST * np.sqrt(width) * longest  # no query's codes are longer
        kind, metric = faiss.ScalarQuantizer.QT_8bit_direct_signed, faiss.METRIC_INNER_PRODUCT
        self._index = faiss.IndexScalarQuantizer(width, kind, metric)
        self._index.add_sa_codes(stored)

    def best(self, queries: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return (rows int64, ceilings float64), (queries, n) and (queries,), of finite queries (queries, width).

        The rows are those with the best codes. The inner product of a query with any other article's vector is at most
        its ceiling, but for the rounding of float64.
        """
        folded = queries * self._steps
        scales = np.maximum(np.abs(folded).max(axis=1, keepdims=True), _TINY) / _HIGHEST  # (queries, 1)
        whole = np.rint(folded / scales)
        rest = folded - scales * whole
        sums, rows = self._index.search(whole.astype(np.float32), n)
        # No matrix product: it would wake threads that go on spinning.
        alike = (queries * self._middle + rest * self._mean).sum(axis=1)
        apart = float64_lengths(rest) * self._farthest + float64_lengths(queries) * self._left_over
        return rows, alike + scales[:, 0] * (sums[:, -1] + self._rounding) + apart
