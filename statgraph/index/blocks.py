"""Article vectors a block at a time, so that those on disk are never in memory whole."""

from __future__ import annotations

import mmap
from collections.abc import Iterator

import numpy as np

ROWS = 65_536


def float32_blocks(vectors: np.ndarray, rows: np.ndarray | None = None) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first place, block (places, width) float32) of vectors (articles, width), which may be memory-mapped.

    `rows` is the articles that are read, in their order, or None for all; a place counts these.
    """
    for start in range(0, len(vectors) if rows is None else len(rows), ROWS):
        block = vectors[start : start + ROWS] if rows is None else vectors[rows[start : start + ROWS]]
        yield start, np.require(block, dtype=np.float32, requirements="CA")  # mapped from a FAISS file they lie askew
        if rows is None:
            forget_pages(vectors)


def forget_pages(vectors: np.ndarray) -> None:
    """Take what has been read of a file that is mapped for reading out of the process's memory, as far as it can be.

    Else a pass over ten million vectors leaves all of them there; the system's cache still has them.
    """
    # In another mode the memory may hold changes that the file has not; a view's base is no mapping.
    mapped = isinstance(vectors, np.memmap) and vectors.mode == "r" and isinstance(vectors.base, mmap.mmap)
    if mapped and hasattr(mmap, "MADV_DONTNEED"):
        vectors.base.madvise(mmap.MADV_DONTNEED)
