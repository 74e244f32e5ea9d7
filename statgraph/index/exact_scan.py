"""Exact search on the CPU: a product with all vectors finds the candidates, and each is then compared by itself."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.products import inner_products
from statgraph.index.rankings import NOT_FOUND, ties_by_row
from statgraph.index.threads import threads_for
from statgraph.index.vector_checks import float64_lengths, vector_lengths

_BLOCK_PRODUCTS, _BLOCK_QUERIES, _BLOCK_ROWS = 1 << 23, 128, 65_536  # 32 MiB of products stay in the caches
_GROUP = 32  # places of a block that are looked at only where their best score is good enough
_GATHERED_SHARE = 8  # one row in so many is copied out of its block in less time than the others are multiplied
_FLOAT32_ROUNDING = 2.0**-24
_LOST_IN_SQUARES = 2.0**-63  # of a component below this the square underflows


class ExactScan:
    """Exact search by inner product among vectors in memory, (articles, width) float32.

    A matrix product's last bits depend on how many questions it has and on where an article stands, so it only finds
    candidates: an inner product of float32 in any order of additions is within `width * 2^-24 / (1 - width * 2^-24)`
    of the exact one, relative to the product of both lengths (Higham, 2002, section 3.1), and whatever lies twice that
    below the k-th best of two computations cannot be among the best of the other. The candidates' scores are FAISS's,
    one pair at a time: the same for one question and for many, for all articles and among some, and for equal vectors.
    """

    orders_ties = True

    def __init__(self, vectors: np.ndarray):
        self._vectors = np.require(vectors, dtype=np.float32, requirements="CA")
        lost = np.sqrt(vectors.shape[1]) * _LOST_IN_SQUARES
        self._longest = float(vector_lengths(self._vectors).max()) + lost

    def search(
        self, queries: np.ndarray, depth: int, allowed: AllowedRows | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (scores float32, article rows int64), each (queries, depth), best first, ties by row."""
        scores = np.empty((len(queries), depth), dtype=np.float32)
        rows = np.empty((len(queries), depth), dtype=np.int64)
        # One thread for the pairs: a second would go on spinning beside the next product, which takes all there are.
        with threads_for(1):
            for start in range(0, len(queries), _BLOCK_QUERIES):
                asked = slice(start, start + _BLOCK_QUERIES)
                scores[asked], rows[asked] = self._best(np.ascontiguousarray(queries[asked]), depth, allowed)
        return scores, rows

    def _best(self, queries: np.ndarray, depth: int, allowed: AllowedRows | None) -> tuple[np.ndarray, np.ndarray]:
        slack = 2 * self._rounding(queries)  # (queries,)
        scores, rows = (np.empty((len(queries), 0), dtype=dtype) for dtype in (np.float32, np.int64))
        for products, block_rows in self._products(queries, allowed):
            lowest = _kth_best(products, depth)  # (queries,)
            if scores.shape[1] == depth:
                lowest = np.maximum(lowest, scores[:, -1])
            candidates = _candidates(products, lowest - slack)
            found = np.where(candidates == NOT_FOUND, NOT_FOUND, block_rows[candidates])
            scores, rows = ties_by_row(np.hstack([scores, self._compare(queries, found)]), np.hstack([rows, found]))
            scores, rows = scores[:, :depth], rows[:, :depth]
        return scores, rows

    def _rounding(self, queries: np.ndarray) -> np.ndarray:
        """Return how far a score may be from the exact inner product, (queries,) float64."""
        width = queries.shape[1]
        # Twice the bound: the lengths are rounded too, and what underflows is lost.
        bound = 2 * rounding_share(width) * float64_lengths(queries) * self._longest
        return bound + width * np.finfo(np.float32).tiny

    def _products(self, queries: np.ndarray, allowed: AllowedRows | None) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield (products float32, rows int64) of a block of the articles: (queries, rows) and (rows,)."""
        n_rows = min(_BLOCK_ROWS, _BLOCK_PRODUCTS // len(queries))
        for start in range(0, len(self._vectors), n_rows):
            block = self._vectors[start : start + n_rows]
            if allowed is None:
                yield inner_products(queries, block), np.arange(start, start + len(block))
                continue
            rows = allowed.rows[slice(*np.searchsorted(allowed.rows, [start, start + len(block)]))]
            if len(rows) * _GATHERED_SHARE >= len(block):
                yield inner_products(queries, block)[:, rows - start], rows
            elif len(rows):
                yield inner_products(queries, self._vectors[rows]), rows

    def _compare(self, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return each query's inner products with its own rows, float32, as `rows` (queries, candidates)."""
        import faiss

        rows = np.ascontiguousarray(rows)
        scores = np.empty(rows.shape, dtype=np.float32)
        pointers = (faiss.swig_ptr(array) for array in (scores, queries, self._vectors, rows))
        faiss.fvec_inner_products_by_idx(*pointers, queries.shape[1], *rows.shape)
        scores[rows == NOT_FOUND] = -np.inf
        return scores


def rounding_share(width: int) -> float:
    """Return how far an inner product of float32 may be from the exact one, as a share of the lengths' product."""
    return width * _FLOAT32_ROUNDING / (1 - width * _FLOAT32_ROUNDING)


def _kth_best(products: np.ndarray, k: int) -> np.ndarray:
    """Return what at least `k` of each query's products reach, (queries,) float64; -inf where there are fewer.

    Where the rows are many it is the k-th best of the groups' best products, which is lower at most.
    """
    best = _grouped(products).max(axis=1) if k <= products.shape[1] // (2 * _GROUP) else products
    if k > best.shape[1]:
        return np.full(len(best), -np.inf)
    return np.partition(best, best.shape[1] - k, axis=1)[:, best.shape[1] - k].astype(np.float64)


def _candidates(products: np.ndarray, lowest: np.ndarray) -> np.ndarray:
    """Return the places of each query's products that are not below `lowest` (queries,): (queries, most) int64.

    NOT_FOUND fills what other queries have more. A product that is not a number is a candidate.
    """
    n_groups = products.shape[1] // _GROUP
    grouped = _grouped(products)  # (queries, group, groups)
    queries, groups = np.nonzero(~(grouped.max(axis=1) < lowest[:, None]))
    hits, members = np.nonzero(~(grouped[queries, :, groups] < lowest[queries, None]))
    tail = n_groups * _GROUP
    tail_queries, tail_places = np.nonzero(~(products[:, tail:] < lowest[:, None]))
    queries = np.concatenate([queries[hits], tail_queries])
    places = np.concatenate([members * n_groups + groups[hits], tail_places + tail])
    order = np.argsort(queries, kind="stable")
    queries, places = queries[order], places[order]
    counts = np.bincount(queries, minlength=len(products))
    candidates = np.full((len(products), counts.max(initial=0)), NOT_FOUND, dtype=np.int64)
    candidates[queries, np.arange(len(queries)) - np.repeat(np.cumsum(counts) - counts, counts)] = places
    return candidates


def _grouped(products: np.ndarray) -> np.ndarray:
    """Return a view of products (queries, rows) as (queries, members, groups), without the last few rows.

    The members of a group stand far apart: articles that stand together often score alike.
    """
    n_groups = products.shape[1] // _GROUP
    return products[:, : n_groups * _GROUP].reshape(len(products), _GROUP, n_groups)
