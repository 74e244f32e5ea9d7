"""Article vectors: read tile by tile, checked, compared exactly; FAISS's files and selections."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from statgraph.errors import RETRAIN, RunError
from statgraph.law.allowed_rows import AllowedRows

if TYPE_CHECKING:
    import faiss

TILE_ROWS = 65_536
NORM_TOLERANCE = 1e-3
INDEX_FILE = "index.faiss"
REMEDY = "build the index again with 'statgraph train'"

FaissIndex = TypeVar("FaissIndex", bound="faiss.Index")
Tiles = Iterable[tuple[int, np.ndarray]]  # (first row, vectors (rows, width) float32), one after another


def float32_tiles(vectors: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first row, tile (rows, width) float32) of vectors (articles, width), which may be memory-mapped."""
    for start in range(0, len(vectors), TILE_ROWS):
        yield start, np.ascontiguousarray(vectors[start : start + TILE_ROWS], dtype=np.float32)
        forget_pages(vectors)


def forget_pages(vectors: np.ndarray) -> None:
    """Release the memory that holds the pages read so far of a file mapped for reading.

    Otherwise a pass over ten million vectors leaves all of them in the process. The system's cache keeps them.
    """
    # In another mode the memory may hold changes that the file does not; a view's base is not a mapping.
    base: object = vectors.base if isinstance(vectors, np.memmap) and vectors.mode == "r" else None
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def inner_products(vectors: np.ndarray, query: np.ndarray) -> np.ndarray:
    """Return a query's inner products with vectors (rows, width) float32, (rows,) float32.

    Raises:
        RunError: if a vector is not finite.
    """
    # Row by row: unlike BLAS's, a score is the same to the last bit, whatever other rows are compared.
    products: np.ndarray = np.einsum("rw,w->r", vectors, query)
    if not np.isfinite(products).all():
        raise RunError(f"index: a vector in it is not finite; {REMEDY}")
    return products


def check_vectors(place: str, tiles: Tiles, article_ids: Sequence[str], *, unit_length: bool = True) -> None:
    """Raise RunError unless every vector has its own id and length 1 (any finite length if not `unit_length`).

    The message begins with `place` and names the first article that is wrong.
    """
    lengths = vector_lengths(tiles)
    check_ids(place, len(lengths), article_ids)
    # Negated so that nan counts as wrong.
    wrong = np.flatnonzero(~are_unit_length(lengths) if unit_length else ~np.isfinite(lengths))
    if not len(wrong):
        return
    fault, remedy = "is not finite", f"{RETRAIN} with a lower learning rate"
    if unit_length:
        fault, remedy = f"has length {lengths[wrong[0]]:.4g}, not 1", f"normalize the vectors, or {RETRAIN}"
    raise RunError(
        f"{place}: the vector of article '{article_ids[wrong[0]]}' {fault} ({len(wrong)} of {len(lengths)} are wrong); "
        f"{remedy}"
    )


def check_ids(place: str, n_vectors: int, article_ids: Sequence[str]) -> None:
    """Raise RunError unless there is exactly one unique id per vector; the message begins with `place`."""
    if n_vectors != len(article_ids):
        raise RunError(f"{place}: {n_vectors} vectors, but {len(article_ids)} article ids; give one id per vector")
    if len(set(article_ids)) < len(article_ids):
        twice, times = Counter(article_ids).most_common(1)[0]
        raise RunError(f"{place}: article id '{twice}' appears {times} times; ids must be unique")


def are_unit_length(lengths: np.ndarray) -> np.ndarray:
    """Return which lengths are 1, within float16 precision, (articles,) bool."""
    near_one: np.ndarray = np.abs(lengths - 1) <= NORM_TOLERANCE
    return near_one


def vector_lengths(tiles: Tiles) -> np.ndarray:
    """Return the length of each vector, (articles,) float32."""
    return np.concatenate([np.sqrt(np.einsum("ad,ad->a", tile, tile)) for _, tile in tiles])


def read_faiss(folder: Path, kind: type[FaissIndex], *, mapped: bool = False) -> FaissIndex:
    """Return the FAISS index in a folder's `index.faiss`, of the class `kind`; `mapped` leaves its vectors there.

    Raises:
        RunError: if the file is missing or damaged, holds another class, or is empty.
    """
    import faiss

    path = existing(folder / INDEX_FILE)
    try:
        index = faiss.read_index(str(path), getattr(faiss, "IO_FLAG_MMAP_IFC", 0) if mapped else 0)  # new in 1.11
    except (RuntimeError, MemoryError):
        raise RunError(f"{path}: damaged, FAISS cannot read it; {REMEDY}") from None
    if not isinstance(index, kind) or not index.ntotal:
        raise RunError(
            f"{path}: {type(index).__name__} with {index.ntotal} vectors, expected {kind.__name__} with at least one; "
            f"{REMEDY}"
        )
    return index


def selector_of(allowed: AllowedRows | None) -> faiss.IDSelector | None:
    """Return what limits a search of FAISS's to the allowed rows, None for all."""
    import faiss

    if allowed is None:
        return None
    return faiss.IDSelectorBitmap(np.packbits(allowed.mask, bitorder="little"))  # type: ignore[call-arg, arg-type]


def existing(path: Path) -> Path:
    """Return the path of a file that exists; raise RunError if it is missing."""
    if not path.is_file():
        raise RunError(f"{path}: missing; {REMEDY}")
    return path
