"""Article vectors: read tile by tile, checked, compared exactly, kept in the files of an index folder."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import RETRAIN, RunError
from statgraph.law.query import Ranked
from statgraph.retrieval.lexical.bm25 import best_rows

TILE_ROWS = 65_536
NORM_TOLERANCE = 1e-3
INDEX_FILE, VECTORS_FILE = "index.faiss", "vectors.npy"
REMEDY = "build the index again with 'statgraph train'"


def float32_tiles(vectors: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first row, tile (rows, width) float32) of vectors (articles, width), which may be memory-mapped."""
    for start in range(0, len(vectors), TILE_ROWS):
        # Vectors mapped from a FAISS file are not aligned.
        yield start, np.require(vectors[start : start + TILE_ROWS], dtype=np.float32, requirements="CA")
        forget_pages(vectors)


def forget_pages(vectors: np.ndarray) -> None:
    """Release the memory that holds the pages read so far of a file mapped for reading.

    Otherwise a pass over ten million vectors leaves all of them in the process. The system's cache keeps them.
    """
    # In another mode the memory may hold changes that the file does not; a view's base is not a mapping.
    mapped = isinstance(vectors, np.memmap) and vectors.mode == "r" and isinstance(vectors.base, mmap.mmap)
    if mapped and hasattr(mmap, "MADV_DONTNEED"):
        vectors.base.madvise(mmap.MADV_DONTNEED)


def inner_products(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return a query's inner products with the vectors of some rows, (rows,) float32.

    Each pair is computed by itself: its score is the same to the last bit, whatever other rows are asked for.

    Args:
        vectors: (articles, width) float32 or float16, in memory or memory-mapped.
        query: (width,) float32.
        rows: (rows,) int64.

    Raises:
        RunError: if a vector, which may be on disk, is not finite.
    """
    products = np.empty(len(rows), dtype=np.float32)
    for start in range(0, len(rows), TILE_ROWS):
        tile, its_rows = vectors, rows[start : start + TILE_ROWS]
        if vectors.dtype != np.float32:
            tile, its_rows = vectors[its_rows].astype(np.float32), np.arange(len(its_rows))
        _multiply(tile, query, its_rows, products[start : start + TILE_ROWS])
        if len(rows) > TILE_ROWS:
            forget_pages(vectors)
    if not np.isfinite(products).all():
        raise RunError(f"index: a vector in it is not finite; {REMEDY}")
    return products


def _multiply(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, products: np.ndarray) -> None:
    """Write the products of float32 vectors to `products`: FAISS reads them where they are, on this thread alone."""
    import faiss

    if len(rows) and rows.max() >= len(vectors):
        raise IndexError(f"row {rows.max()} of {len(vectors)} vectors")
    query, rows = np.ascontiguousarray(query), np.ascontiguousarray(rows, dtype=np.int64)
    pointers = [faiss.swig_ptr(array) for array in (products, query, vectors, rows)]  # refuses other arrays
    n_threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    faiss.fvec_inner_products_by_idx(*pointers, len(query), 1, len(rows))
    faiss.omp_set_num_threads(n_threads)


def best_of(vectors: np.ndarray, query: np.ndarray, rows: np.ndarray, k: int) -> Ranked:
    """Return the best `k` of some rows by inner product, or all if fewer; best first, ties by row.

    Args:
        vectors, query: as in `inner_products`.
        rows: (rows,) int64, in any order.
        k: how many to return.
    """
    rows = np.sort(rows)
    scores = inner_products(vectors, query, rows)
    best = best_rows(scores, k)
    return Ranked(rows[best], scores[best])


def check_vectors(place: str, vectors: np.ndarray, article_ids: Sequence[str], *, unit_length: bool = True) -> None:
    """Raise RunError unless every vector has its own id and length 1 (any finite length if not `unit_length`).

    The message begins with `place` and names the first article that is wrong.
    """
    check_ids(place, len(vectors), article_ids)
    lengths = vector_lengths(vectors)
    # Negated so that nan counts as wrong.
    wrong = np.flatnonzero(~_of_length_one(lengths) if unit_length else ~np.isfinite(lengths))
    if not len(wrong):
        return
    fault, remedy = "is not finite", f"{RETRAIN} with a lower learning rate"
    if unit_length:
        fault, remedy = f"has length {lengths[wrong[0]]:.4g}, not 1", f"normalize the vectors, or {RETRAIN}"
    raise RunError(
        f"{place}: the vector of article '{article_ids[wrong[0]]}' {fault} ({len(wrong)} of {len(vectors)} are wrong); "
        f"{remedy}"
    )


def check_ids(place: str, n_vectors: int, article_ids: Sequence[str]) -> None:
    """Raise RunError unless there is exactly one unique id per vector; the message begins with `place`."""
    if n_vectors != len(article_ids):
        raise RunError(f"{place}: {n_vectors} vectors, but {len(article_ids)} article ids; give one id per vector")
    if len(set(article_ids)) < len(article_ids):
        twice, times = Counter(article_ids).most_common(1)[0]
        raise RunError(f"{place}: article id '{twice}' appears {times} times; ids must be unique")


def all_unit_length(vectors: np.ndarray) -> bool:
    """Return whether every vector has length 1, within float16 precision."""
    return bool(_of_length_one(vector_lengths(vectors)).all())


def vector_lengths(vectors: np.ndarray) -> np.ndarray:
    """Return (articles,) float32."""
    lengths = np.empty(len(vectors), dtype=np.float32)
    for start, tile in float32_tiles(vectors):
        lengths[start : start + len(tile)] = np.sqrt(np.einsum("ad,ad->a", tile, tile))
    return lengths


def read_faiss(folder: Path, kind: str, *, mapped: bool = False):
    """Return the FAISS index in a folder's `index.faiss`, of the class named `kind`; `mapped` leaves its vectors there.

    Raises:
        RunError: if the file is missing or damaged, holds another class, or is empty.
    """
    import faiss

    path = existing(folder / INDEX_FILE)
    try:
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0) if mapped else 0)  # new in 1.11
    except (RuntimeError, MemoryError):
        raise RunError(f"{path}: damaged, FAISS cannot read it; {REMEDY}") from None
    saved_kind = type(index).__name__
    if saved_kind != kind or not index.ntotal:
        raise RunError(f"{path}: {saved_kind} with {index.ntotal} vectors, expected {kind} with at least one; {REMEDY}")
    return index


def vectors_view(flat) -> np.ndarray:
    """Return the vectors inside a `faiss.IndexFlat`, (articles, width) float32, not copied; the view keeps it alive."""
    import faiss

    view = faiss.rev_swig_ptr(flat.get_xb(), flat.ntotal * flat.d).reshape(flat.ntotal, flat.d)
    return np.asarray(_Memory(view.__array_interface__, flat))


class _Memory:
    """FAISS's memory for NumPy, with the index that must outlive it."""

    def __init__(self, interface: dict, owner: object):
        self.__array_interface__ = interface
        self._owner = owner


def existing(path: Path) -> Path:
    """Return the path of a file that exists; raise RunError if it is missing."""
    if not path.is_file():
        raise RunError(f"{path}: missing; {REMEDY}")
    return path


def _of_length_one(lengths: np.ndarray) -> np.ndarray:
    return np.abs(lengths - 1) <= NORM_TOLERANCE
