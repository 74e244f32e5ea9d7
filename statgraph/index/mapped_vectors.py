"""Article vectors in a file that a search reads by row: inner products with some rows, or with all."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import RunError
from statgraph.index.blocks import ROWS, float32_blocks, forget_pages
from statgraph.index.faiss_files import REMEDY
from statgraph.index.products import products_by_row
from statgraph.index.rankings import NOT_FOUND, best_by_row, ties_by_row

VECTORS_FILE = "vectors.npy"
PRECISIONS = ("float32", "float16")
_BLOCK_VALUES = 1 << 24  # of candidates' float16 vectors widened at a time: 64 MiB


def write(folder: Path, vectors: np.ndarray) -> None:
    """Write vectors (articles, width) to a folder's `vectors.npy`, as they are."""
    with (folder / VECTORS_FILE).open("wb") as file:
        descr = np.lib.format.dtype_to_descr(vectors.dtype)
        header = {"descr": descr, "fortran_order": False, "shape": vectors.shape}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, len(vectors), ROWS):
            np.ascontiguousarray(vectors[start : start + ROWS]).tofile(file)
            forget_pages(vectors)


def read(folder: Path, *, shape: tuple[int, int], precision: str) -> np.ndarray:
    """Return the vectors in a folder's `vectors.npy`, memory-mapped.

    Raises:
        RunError: if the file is missing or damaged, or holds another shape or precision.
    """
    path = folder / VECTORS_FILE
    if not path.is_file():
        raise RunError(f"{path}: missing; {REMEDY}")
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise RunError(f"{path}: damaged ({reason}); {REMEDY}") from None
    if not isinstance(vectors, np.memmap) or (vectors.shape, vectors.dtype.name) != (shape, precision):
        raise RunError(
            f"{path}: {vectors.dtype} of shape {vectors.shape}, but the index is of {precision} {shape}; {REMEDY}"
        )
    return vectors


def inner_products(vectors: np.ndarray, queries: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return each query's inner products with the vectors of its own rows, float32, as `rows` (queries, candidates).

    A row that was not found scores minus infinity.

    Raises:
        RunError: if a score is not finite.
    """
    (n_queries, n_candidates), width = rows.shape, vectors.shape[1]
    if vectors.dtype == np.float32:
        scores = products_by_row(queries, vectors, rows)
    else:
        scores = np.empty(rows.shape, dtype=np.float32)
        n_block = max(1, _BLOCK_VALUES // (n_candidates * width))
        for start in range(0, n_queries, n_block):
            block = slice(start, start + n_block)
            candidates = vectors[rows[block]].astype(np.float32)  # (block, candidates, width)
            scores[block] = np.einsum("qcd,qd->qc", candidates, queries[block])
    scores[rows == NOT_FOUND] = 0.0
    _check_finite(scores)
    scores[rows == NOT_FOUND] = -np.inf
    return scores


def best(
    vectors: np.ndarray, queries: np.ndarray, k: int, allowed: AllowedRows | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (scores float32, rows int64), each (queries, k), of an exact search that reads every vector once.

    Best first, ties by row. `allowed` is the rows to read, or None for all.

    Raises:
        RunError: if a score is not finite.
    """
    scores, rows = (np.empty((len(queries), 0), dtype=dtype) for dtype in (np.float32, np.int64))
    for start, block in float32_blocks(vectors, None if allowed is None else allowed.rows):
        found, places = best_by_row(partial(_compare, block), queries, len(block), min(k, len(block)))
        scores, rows = ties_by_row(np.hstack([scores, found]), np.hstack([rows, places + start]))
        scores, rows = scores[:, :k], rows[:, :k]
    _check_finite(scores)
    return scores, rows if allowed is None else allowed.rows[rows]


def _compare(vectors: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    import faiss

    return faiss.knn(queries, vectors, k, metric=faiss.METRIC_INNER_PRODUCT)


def _check_finite(scores: np.ndarray) -> None:
    if not np.isfinite(scores).all():
        raise RunError(f"index: {VECTORS_FILE} holds a vector that is not finite; {REMEDY}")
