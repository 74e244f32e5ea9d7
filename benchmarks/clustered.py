"""Synthetic unit vectors with the structure of law: topics, sections within them, articles around their section."""

from __future__ import annotations

import numpy as np

WIDTH = 384
_ARTICLES_PER_SECTION, _ARTICLES_PER_TOPIC = 100, 10_000
_LEAST_SECTIONS, _LEAST_TOPICS = 40, 4
# Distances relative to the length of a centre; an article is then some 0.8 (cosine) from its section's centre.
_SECTION_SPREAD, _ARTICLE_SPREAD = 0.9, 0.7


class ClusteredVectors:
    """Draws articles, and questions that lie among them, in blocks: never all at once."""

    def __init__(self, n_articles: int, *, seed: int = 0):
        rng = np.random.default_rng(seed)
        topics = _unit(rng.standard_normal((max(_LEAST_TOPICS, n_articles // _ARTICLES_PER_TOPIC), WIDTH), np.float32))
        n_sections = max(_LEAST_SECTIONS, n_articles // _ARTICLES_PER_SECTION)
        around = _unit(rng.standard_normal((n_sections, WIDTH), np.float32))
        self._sections = _unit(topics[rng.integers(len(topics), size=n_sections)] + _SECTION_SPREAD * around)

    def draw(self, n_vectors: int, *, seed: tuple[int, ...]) -> np.ndarray:
        """Return unit vectors (vectors, WIDTH) float32 of sections drawn evenly."""
        rng = np.random.default_rng(seed)
        vectors = rng.standard_normal((n_vectors, WIDTH), np.float32)
        vectors *= _ARTICLE_SPREAD / WIDTH**0.5
        vectors += self._sections[rng.integers(len(self._sections), size=n_vectors)]
        return _unit(vectors)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
