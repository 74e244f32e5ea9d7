"""The vectors that a run already has, found by the hash of the text they stand for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np


class KnownVectors:
    """Rows of several arrays (n, width) by 16-byte hashes. An article that gets another id keeps its vector."""

    def __init__(self, width: int):
        self._width = width
        self._arrays: list[np.ndarray] = []
        self._places: dict[bytes, tuple[int, int]] = {}

    def add(self, hashes: np.ndarray, vectors: np.ndarray) -> None:
        """Make vectors (n, width) known under their hashes (n, 16) uint8; what is known already stays."""
        for row, key in enumerate(_keys(hashes)):
            self._places.setdefault(key, (len(self._arrays), row))
        self._arrays.append(vectors)

    def unknown(self, hashes: np.ndarray, texts: Sequence[str]) -> Mapping[bytes, str]:
        """Return by hash the texts that have no vector, each once, in their order."""
        return {key: text for key, text in zip(_keys(hashes), texts, strict=True) if key not in self._places}

    def vectors(self, hashes: np.ndarray) -> np.ndarray:
        """Return the vectors of these hashes (n, 16), (n, width) float32; all must be known."""
        places = np.array([self._places[key] for key in _keys(hashes)], dtype=np.int64).reshape(-1, 2)
        found = np.empty((len(places), self._width), dtype=np.float32)
        for number, array in enumerate(self._arrays):
            chosen = places[:, 0] == number
            found[chosen] = array[places[chosen, 1]]
        return found


def _keys(hashes: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in hashes]
