"""Vectors of any length held with (nearly) equal lengths and the same inner products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statgraph.index.vectors import NORM_TOLERANCE, float32_tiles, vector_lengths

_QUANTILE = 0.99  # with the length of the longest, short vectors would hardly differ but in their added component


@dataclass(frozen=True)
class EqualLength:
    """How an index holds its vectors: with one more component, which is 0 in queries.

    Neighbours by inner product are neighbours by angle only if vectors are equally long, and lists around centres rely
    on that. The component sqrt(length^2 - |a|^2) gives every article vector up to `length` that length, and leaves
    q . a unchanged (Bachrach et al., 2014); longer ones get 0.

    Attributes:
        width: of the original vectors.
        held_width: of the held vectors, padded with zeros.
        length: the common length, or 0.0 if all have one length and no component is added.
    """

    width: int
    held_width: int
    length: float

    @classmethod
    def of(cls, vectors: np.ndarray, parts: int = 1) -> EqualLength:
        """Return the form that makes vectors (articles, width) equally long, `held_width` a multiple of `parts`."""
        lengths = vector_lengths(vectors)
        width = vectors.shape[1]
        equal = lengths.max() - lengths.min() <= NORM_TOLERANCE
        needed = width if equal else width + 1
        return cls(width, -(-needed // parts) * parts, 0.0 if equal else float(np.quantile(lengths, _QUANTILE)))

    def held(self, vectors: np.ndarray) -> np.ndarray:
        """Return article vectors (articles, width) as they are held, (articles, held_width) float32."""
        held = np.zeros((len(vectors), self.held_width), dtype=np.float32)
        held[:, : self.width] = vectors
        if self.length:
            for start, tile in float32_tiles(vectors):
                missing = self.length**2 - np.einsum("ad,ad->a", tile, tile)
                held[start : start + len(tile), self.width] = np.sqrt(np.maximum(missing, 0.0))
        return held

    def asked(self, queries: np.ndarray) -> np.ndarray:
        """Return query vectors (queries, width) with zeros after them, (queries, held_width) float32."""
        asked = np.zeros((len(queries), self.held_width), dtype=np.float32)
        asked[:, : self.width] = queries
        return asked
