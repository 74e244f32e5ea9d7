"""Article vectors: how they are read tile by tile, and what an index requires of them."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from statgraph.errors import RunError

TILE_ROWS = 65_536
NORM_TOLERANCE = 1e-3


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
    fault, remedy = "is not finite", "train the run again with a lower learning rate"
    if unit_length:
        fault, remedy = f"has length {lengths[wrong[0]]:.4g}, not 1", "normalize the vectors, or train the run again"
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


def _of_length_one(lengths: np.ndarray) -> np.ndarray:
    return np.abs(lengths - 1) <= NORM_TOLERANCE
