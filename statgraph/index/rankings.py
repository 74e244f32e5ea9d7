"""Rankings in a fixed order: best first, ties by row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

NOT_FOUND = -1  # FAISS's row where a search found fewer articles than asked for
_ROW_BITS = 2**32 - 1


def ties_by_row(scores: np.ndarray, rows: np.ndarray, depth: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores float32, rows int64), each (queries, depth), best first, equal scores by row.

    Score and row are packed into one integer: these sort many times faster than two arrays.

    Args:
        scores: (queries, rows) float32; nan comes last.
        rows: (queries, rows) or (rows,), below 2^31; NOT_FOUND comes last among equal scores.
        depth: how many of each query are kept, or None for all.
    """
    keys = (_rising(scores).astype(np.int64) << 32) | (rows & _ROW_BITS)
    if depth is not None and depth < keys.shape[1]:
        keys = np.partition(keys, depth - 1, axis=1)[:, :depth]
    keys = np.sort(keys, axis=1)
    return _falling((keys >> 32).astype(np.int32)), keys.astype(np.int32).astype(np.int64)


def best_by_row(
    search: Callable[[np.ndarray, int], tuple[np.ndarray, np.ndarray]], queries: np.ndarray, n_rows: int, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores, rows), each (queries, k), best first, ties by row, of an exact search with ties in any order.

    Args:
        search: (some of the queries, depth) -> (scores float32, rows int64), each (queries, depth), best first.
        queries: (queries, width).
        n_rows: how many rows there are to find.
        k: at most `n_rows`.
    """
    # One more row than asked for shows whether a tie crosses the cut. If so, the search may have returned any of the
    # tied rows: search deeper for those queries.
    depth = min(k + 1, n_rows)
    scores, rows = ties_by_row(*search(queries, depth))  # (queries, depth)
    best_scores, best_rows = scores[:, :k].copy(), rows[:, :k].copy()
    tied = np.arange(len(queries))
    while depth > k and len(tied := tied[scores[:, k - 1] == scores[:, -1]]):
        if depth == n_rows:
            break
        depth = min(2 * depth, n_rows)
        scores, rows = ties_by_row(*search(queries[tied], depth))
        best_scores[tied], best_rows[tied] = scores[:, :k], rows[:, :k]
    return best_scores, best_rows


def _rising(scores: np.ndarray) -> np.ndarray:
    """Return int32 numbers that rise as the scores fall: the bits of the negated floats, without minus zero."""
    negated = np.subtract(0, scores, dtype=np.float32)
    negated[np.isnan(negated)] = np.nan  # some have a sign, and would come first
    return _mirrored(negated.view(np.int32))


def _falling(numbers: np.ndarray) -> np.ndarray:
    """Return the scores, float32, from which `_rising` made these numbers."""
    return np.subtract(0, _mirrored(numbers).view(np.float32), dtype=np.float32)


def _mirrored(bits: np.ndarray) -> np.ndarray:
    # The bits of a float are its size behind a sign: those of negative ones rise as the float falls.
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)
