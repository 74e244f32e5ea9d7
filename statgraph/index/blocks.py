"""Article vectors a block at a time, so that those on disk are never in memory whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

ROWS = 65_536


def float32_blocks(vectors: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first row, block (rows, width) float32) of vectors (articles, width), which may be memory-mapped."""
    for start in range(0, len(vectors), ROWS):
        yield start, np.ascontiguousarray(vectors[start : start + ROWS], dtype=np.float32)
