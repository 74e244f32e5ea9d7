"""Article vectors smoothed over the law: a graph layer without weights."""

from __future__ import annotations

import numpy as np
from scipy import sparse

_CITED_BY, _CITES = 0.2, 0.1  # beside 1 for the article's own; chosen on legi-fr's dev questions of both sets


def smoothed(
    vectors: np.ndarray, section: np.ndarray, cited: np.ndarray, cited_starts: np.ndarray, weight: float
) -> np.ndarray:
    """Return each article's unit vector plus `weight` times the mean of those under the same heading, 0.2 times that of
    the articles that cite it and 0.1 times that of those that it cites, each mean at unit length; (articles, width)
    float32, at unit length.

    Args:
        vectors: (articles, width), at unit length.
        section: (articles,) the heading of each article: equal numbers are one heading.
        cited: (citations,) article rows that each article cites, article by article.
        cited_starts: (articles + 1,) where each article's begin in `cited`.
        weight: 0 returns the vectors as they are.
    """
    if not weight:
        return np.asarray(vectors, dtype=np.float32)
    n_articles = len(vectors)
    rows = np.arange(n_articles)
    member = sparse.csr_matrix((np.ones(n_articles, dtype=np.float32), (section, rows)))  # (sections, articles)
    ones = np.ones(len(cited), dtype=np.float32)
    citations = sparse.csr_matrix((ones, cited, cited_starts), shape=(n_articles, n_articles))
    total = vectors + weight * _unit(member @ vectors)[section]
    total += _CITES * _unit(citations @ vectors) + _CITED_BY * _unit(citations.T @ vectors)
    return _unit(total).astype(np.float32)


def _unit(vectors: np.ndarray) -> np.ndarray:
    unit_vectors: np.ndarray = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    return unit_vectors
