"""Random unit vectors and two-dimensional ones that are easy to rank by hand."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def compass() -> np.ndarray:
    """East, north, west, south, and north-east: (5, 2) float32."""
    half = np.sqrt(0.5)
    return np.array([[1, 0], [0, 1], [-1, 0], [0, -1], [half, half]], dtype=np.float32)


@pytest.fixture
def unit_vectors():
    """Return a function that draws (rows, width) float32 vectors of length 1."""

    def draw(n_rows: int, width: int, seed: int) -> np.ndarray:
        vectors = np.random.default_rng(seed).standard_normal((n_rows, width)).astype(np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    return draw
