"""Clustered vectors, and what is measured of a search among them."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def clustered():
    """Return a function that draws (articles, 16) and (queries, 16) float32 vectors of length 1 around 40 centres."""

    def draw(n_articles: int, n_queries: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        centres = rng.standard_normal((40, 16))
        vectors = centres[rng.integers(40, size=n_articles + n_queries)]
        vectors = (vectors + 0.4 * rng.standard_normal(vectors.shape)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors[:n_articles], vectors[n_articles:]

    return draw


@pytest.fixture
def exact_best():
    """Return a function that ranks the articles of each query by a full sort: (scores, rows), each (queries, k)."""

    def rank(vectors: np.ndarray, queries: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        scores = queries.astype(np.float64) @ vectors.T.astype(np.float64)
        rows = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, rows, axis=1), rows

    return rank


@pytest.fixture
def recall():
    """Return a function that computes the share of the best rows among those returned."""
    return lambda best, returned: float(
        np.mean([np.isin(rows, others).mean() for rows, others in zip(best, returned, strict=True)])
    )


@pytest.fixture
def stacked():
    """Return a function that stacks rankings of the same depth: (rows, scores), each (queries, k)."""
    return lambda ranked: (np.stack([rows for rows, _ in ranked]), np.stack([scores for _, scores in ranked]))
