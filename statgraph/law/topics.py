"""The topics of questions, by their words: to hold out what training has not asked about, and to say how near a
question is to one that training has."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_COMPONENTS = 100
_AT_ONCE = 1000  # texts whose cosines are in memory
_NGRAMS = 2, 4  # characters: not every script separates words


def topics(texts: Sequence[str]) -> np.ndarray:
    """Return the topic of each text, (texts,) int64 from 0: k-means over their latent semantic analysis (Deerwester et
    al. 1990), with the square root of half as many topics as texts; always the same for the same texts."""
    n_topics = min(round(math.sqrt(len(texts) / 2)), len(set(texts)))
    if n_topics < 2:
        return np.zeros(len(texts), dtype=np.int64)
    from sklearn.cluster import KMeans
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    (vectors,) = _tf_idf(texts)
    n_components = min(_COMPONENTS, min(vectors.shape) - 1)
    if n_components > 0:
        vectors = normalize(TruncatedSVD(n_components, random_state=0).fit_transform(vectors))
    clusters: np.ndarray = KMeans(n_topics, n_init=3, random_state=0).fit_predict(vectors)
    return clusters.astype(np.int64)


def nearness(texts: Sequence[str], others: Sequence[str]) -> np.ndarray:
    """Return the cosine of each text and the nearest of the others, (texts,) float64 from 0 to 1, by tf-idf; 0 where
    there are no others."""
    if not texts or not others:
        return np.zeros(len(texts))
    known, asked = _tf_idf(others, texts)
    nearest = [
        (asked[start : start + _AT_ONCE] @ known.T).max(axis=1).toarray()[:, 0]
        for start in range(0, len(texts), _AT_ONCE)
    ]
    return np.concatenate(nearest)


def _tf_idf(texts: Sequence[str], *others: Sequence[str]) -> list:  # type: ignore[type-arg]
    """Return the vectors of texts, of length 1, (texts, n-grams) sparse, and those of others by the weights of the
    first."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=_NGRAMS, sublinear_tf=True, dtype=np.float32)
    return [vectorizer.fit_transform(texts), *map(vectorizer.transform, others)]
