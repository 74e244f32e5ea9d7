"""What the vectors of an index must be: one an article, finite, and of length 1 where the similarity is the cosine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from statgraph.errors import RunError
from statgraph.index.blocks import float32_blocks

NORM_TOLERANCE = 1e-3


def check_vectors(place: str, vectors: np.ndarray, article_ids: Sequence[str], *, unit_length: bool = True) -> None:
    """Return if every vector has one id of its own and length 1, or any finite length where `unit_length` is false.

    Raises:
        RunError: if not; the text begins with `place` and names the first article that is wrong.
    """
    check_ids(place, len(vectors), article_ids)
    lengths = vector_lengths(vectors)
    # This way round, nan is wrong too.
    wrong = np.flatnonzero(~_of_length_one(lengths) if unit_length else ~np.isfinite(lengths))
    if len(wrong) and not unit_length:
        raise RunError(
            f"{place}: the vector of article '{article_ids[wrong[0]]}' is not finite ({len(wrong)} of {len(vectors)} "
            "are wrong); train the run again with a lower learning rate"
        )
    if len(wrong):
        raise RunError(
            f"{place}: the vector of article '{article_ids[wrong[0]]}' has length {lengths[wrong[0]]:.4g}, not 1 "
            f"({len(wrong)} of {len(vectors)} are wrong); normalise them, or train the run again"
        )


def check_ids(place: str, n_vectors: int, article_ids: Sequence[str]) -> None:
    """Return if there is one id for each vector, and none stands twice.

    Raises:
        RunError: if not; the text begins with `place`.
    """
    if n_vectors != len(article_ids):
        raise RunError(f"{place}: {n_vectors} vectors, but {len(article_ids)} article ids; give one id a vector")
    if len(set(article_ids)) < len(article_ids):
        twice, times = Counter(article_ids).most_common(1)[0]
        raise RunError(f"{place}: article id '{twice}' appears {times} times; ids must be unique")


def all_unit_length(vectors: np.ndarray) -> bool:
    """Return whether every vector has length 1, as near as its precision allows."""
    return bool(_of_length_one(vector_lengths(vectors)).all())


def vector_lengths(vectors: np.ndarray) -> np.ndarray:
    """Return (articles,) float32."""
    lengths = np.empty(len(vectors), dtype=np.float32)
    for start, block in float32_blocks(vectors):
        lengths[start : start + len(block)] = np.sqrt(np.einsum("ad,ad->a", block, block))
    return lengths


def float64_lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the lengths of a few vectors (vectors, width), float64."""
    vectors = vectors.astype(np.float64, copy=False)
    return np.sqrt(np.einsum("vd,vd->v", vectors, vectors))


def _of_length_one(lengths: np.ndarray) -> np.ndarray:
    return np.abs(lengths - 1) <= NORM_TOLERANCE
