"""Vectors on disk by the content they stand for, so that no text goes through a frozen encoder twice."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.artifacts import replaced_file

KEY_BYTES = 16


class VectorCache:
    """A folder of shards (`*.npz`: keys (n, 16) uint8 and vectors (n, width) float16) for one frozen encoder.

    A shard is written whole and then renamed, so a killed run leaves every finished shard usable. One that cannot be
    read (a copy that was cut short, a full disk) counts as absent, and what it held is computed again.
    """

    def __init__(self, folder: Path):
        self._folder = Path(folder)
        self._places: dict[bytes, tuple[int, int]] = {}
        self._shards: list[np.ndarray] = []
        for path in sorted(self._folder.glob("*.npz")):
            shard = _read_shard(path)
            if shard:
                self._index(*shard)

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def add(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        """Save vectors (n, width) under their keys (16 bytes each)."""
        if not len(keys):
            return
        key_rows = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
        half = vectors.astype(np.float16)
        target = self._folder / f"{keys[0].hex()}-{len(keys)}.npz"
        with replaced_file(target) as staging, staging.open("wb") as file:
            np.savez(file, keys=key_rows, vectors=half)
        self._index(key_rows, half)

    def vectors(self, keys: Sequence[bytes]) -> np.ndarray:
        """Return the vectors of these keys, (keys, width) float16; all must be in the cache."""
        places = np.array([self._places[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        width = self._shards[0].shape[1] if self._shards else 0
        vectors = np.empty((len(keys), width), dtype=np.float16)
        for shard in np.unique(places[:, 0]):
            chosen = places[:, 0] == shard
            vectors[chosen] = self._shards[shard][places[chosen, 1]]
        return vectors

    def _index(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        shard = len(self._shards)
        self._shards.append(vectors)
        raw = keys.tobytes()
        for row in range(len(keys)):
            self._places[raw[row * KEY_BYTES : (row + 1) * KEY_BYTES]] = (shard, row)


def _read_shard(path: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (keys, vectors), or None where the file is damaged or has just gone."""
    try:
        with np.load(path, allow_pickle=False) as shard:
            keys, vectors = shard["keys"], shard["vectors"]
    except (FileNotFoundError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    return (keys, vectors) if len(keys) == len(vectors) else None
