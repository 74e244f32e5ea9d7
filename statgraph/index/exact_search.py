"""Exact search by inner product on the CPU, tile by tile."""

from __future__ import annotations

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index.rankings import NOT_FOUND, ties_by_row
from statgraph.index.vectors import TILE_ROWS, forget_pages

_TILE_QUERIES = 128  # 32 MiB of products with a tile of vectors
# Pair by pair is about as fast as a matrix product for few queries or values (5,461 vectors of 384), and wakes no
# threads that go on spinning.
_FEW_QUERIES, _FEW_VALUES = 8, 1 << 21
_GROUP = 32
_WIDENED_VALUES = 1 << 24  # float16 vectors of candidates converted at a time: 64 MiB
_FLOAT32_ROUNDING = 2.0**-24
_LOST_IN_SQUARES = 2.0**-63  # the square of a component below this underflows


def exact_search(
    vectors: np.ndarray, queries: np.ndarray, k: int, allowed: AllowedRows | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores float32, article rows int64), each (queries, k), best first, ties by row.

    A pair of a query and a vector has the same score, to the last bit, alone or in a batch, among all rows or some.

    Args:
        vectors: (articles, width) float32 or float16, in memory or memory-mapped.
        queries: (queries, width) float32.
        k: at most the number of rows searched.
        allowed: the rows to search, or None for all.
    """
    scores = np.empty((len(queries), k), dtype=np.float32)
    rows = np.empty((len(queries), k), dtype=np.int64)
    for start in range(0, len(queries), _TILE_QUERIES):
        tile = slice(start, start + _TILE_QUERIES)
        scores[tile], rows[tile] = _best(vectors, np.ascontiguousarray(queries[tile]), k, allowed)
    return scores, rows


def inner_products(vectors: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return each query's inner products with the vectors of its own rows, float32, as `rows` (queries, rows) int64.

    FAISS computes one pair at a time, so that a pair's score is the same wherever it appears; queries share its
    threads. NOT_FOUND scores minus infinity.
    """
    import faiss

    products = np.empty(rows.shape, dtype=np.float32)
    if vectors.dtype == np.float32:
        arrays = (products, np.ascontiguousarray(queries), vectors, np.ascontiguousarray(rows))
        faiss.fvec_inner_products_by_idx(*map(faiss.swig_ptr, arrays), vectors.shape[1], *rows.shape)
    else:
        n_queries = max(1, _WIDENED_VALUES // max(1, rows.shape[1] * vectors.shape[1]))
        for start in range(0, len(queries), n_queries):
            tile = slice(start, start + n_queries)
            widened = vectors[rows[tile]].astype(np.float32).reshape(-1, vectors.shape[1])
            places = np.arange(len(widened)).reshape(rows[tile].shape)
            products[tile] = inner_products(widened, queries[tile], places)
    products[rows == NOT_FOUND] = -np.inf
    return products


def _best(
    vectors: np.ndarray, queries: np.ndarray, k: int, allowed: AllowedRows | None
) -> tuple[np.ndarray, np.ndarray]:
    scores, rows = (np.empty((len(queries), 0), dtype=dtype) for dtype in (np.float32, np.int64))
    n_rows = len(vectors) if allowed is None else len(allowed)
    for start in range(0, n_rows, TILE_ROWS):
        stop = min(start + TILE_ROWS, n_rows)
        searched = np.arange(start, stop) if allowed is None else allowed.rows[start:stop]
        found_scores, found_rows = _scored(vectors, queries, k, searched)
        scores, rows = ties_by_row(np.hstack([scores, found_scores]), np.hstack([rows, found_rows]), k)
        if allowed is None:
            forget_pages(vectors)
    return scores, rows


def _scored(vectors: np.ndarray, queries: np.ndarray, k: int, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, rows), each (queries, candidates), of all that may be among the best `k` of `rows` (rows,).

    The last bits of a matrix product depend on the number of queries and on where a vector lies, so it only selects
    candidates: what is twice the rounding below the k-th best product cannot be among the best k by another order of
    additions. NOT_FOUND fills the rows of queries with fewer candidates.
    """
    few = len(queries) < _FEW_QUERIES or len(rows) * vectors.shape[1] <= _FEW_VALUES
    tile, places = (vectors, rows) if few and vectors.dtype == np.float32 else _tile(vectors, rows)
    if few:
        products = inner_products(tile, queries, np.broadcast_to(places, (len(queries), len(places))))
        lowest = _reached_by(k, products)
    else:
        products = queries @ tile.T
        products = products if len(places) == len(tile) else products[:, places]
        lowest = _reached_by(k, products) - 2 * _rounding(queries, tile)
        lowest = np.nextafter(lowest.astype(np.float32), np.float32(-np.inf))
    numbers, chosen = np.nonzero(~(products < lowest[:, None]))  # nan is a candidate
    counts = np.bincount(numbers, minlength=len(queries))
    candidates = np.full((len(queries), counts.max()), NOT_FOUND, dtype=np.int64)
    candidates[numbers, np.arange(len(numbers)) - np.repeat(np.cumsum(counts) - counts, counts)] = chosen
    missing = candidates == NOT_FOUND
    scores = inner_products(tile, queries, np.where(missing, NOT_FOUND, places[candidates]))
    return scores, np.where(missing, NOT_FOUND, rows[candidates])


def _tile(vectors: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (tile (tile rows, width) float32, places of the rows in it): all from the first row to the last, or only
    these where they are few."""
    span = slice(rows[0], rows[-1] + 1)
    gathered = 2 * len(rows) < span.stop - span.start
    tile = np.require(vectors[rows if gathered else span], dtype=np.float32, requirements="CA")
    return tile, np.arange(len(rows)) if gathered else rows - span.start


def _reached_by(k: int, products: np.ndarray) -> np.ndarray:
    """Return what at least `k` of each query's products (queries, rows) reach: (queries,), -inf where fewer exist.

    With many rows it is the k-th best of the maxima of groups of rows, which is found sooner and hardly lower. The
    rows of a group lie far apart: neighbouring articles often score alike.
    """
    n_groups = products.shape[1] // _GROUP
    if 2 * k <= n_groups:
        products = products[:, : n_groups * _GROUP].reshape(len(products), _GROUP, n_groups).max(axis=1)
    if k > products.shape[1]:
        return np.full(len(products), -np.inf, dtype=np.float32)
    return np.partition(products, -k, axis=1)[:, -k]


def _rounding(queries: np.ndarray, tile: np.ndarray) -> np.ndarray:
    """Return how far a float32 inner product may be from the exact one, (queries,) float64.

    In any order of additions it is within `width * 2^-24 / (1 - width * 2^-24)`, relative to the product of both
    lengths (Higham, 2002, section 3.1). Twice that, since lengths are rounded too, and what underflow may lose.
    """
    import faiss

    width = tile.shape[1]
    lengths = np.empty(len(tile), dtype=np.float32)
    faiss.fvec_norms_L2(faiss.swig_ptr(lengths), faiss.swig_ptr(tile), width, len(tile))
    longest = float(lengths.max()) + np.sqrt(width) * _LOST_IN_SQUARES
    share = width * _FLOAT32_ROUNDING / (1 - width * _FLOAT32_ROUNDING)
    query_lengths = np.sqrt(np.einsum("qd,qd->q", queries, queries, dtype=np.float64))
    return 2 * share * query_lengths * longest + width * np.finfo(np.float32).tiny
