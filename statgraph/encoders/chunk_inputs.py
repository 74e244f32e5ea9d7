"""Chunked texts as an encoder's inputs: token ids for a backbone that trains, vectors for a frozen one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.encoders.chunking import Chunks
from statgraph.encoders.frozen import padded


def chunk_places(offsets: np.ndarray, rows: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Return (chunk rows, new offsets) of the texts at `rows`."""
    chosen = rows.numpy()
    lengths = offsets[chosen + 1] - offsets[chosen]
    new_offsets = np.concatenate([[0], lengths.cumsum()])
    places = np.repeat(offsets[chosen] - new_offsets[:-1], lengths) + np.arange(new_offsets[-1])
    return places, new_offsets


@dataclass(frozen=True)
class ChunkVectors:
    """Texts as the frozen backbone's vectors of their chunks: `vectors` (chunks, width), `offsets` (texts + 1,)."""

    vectors: torch.Tensor
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: torch.Tensor) -> ChunkVectors:
        """Return the inputs of these rows, in their order."""
        places, offsets = chunk_places(self.offsets, rows)
        return ChunkVectors(self.vectors[torch.from_numpy(places)], offsets)

    def to(self, device: torch.device) -> ChunkVectors:
        """Return the same inputs on a device."""
        return ChunkVectors(self.vectors.to(device), self.offsets)


@dataclass(frozen=True)
class ChunkTokens:
    """Texts as chunks of token ids, padded where they are used: `ids` and `mask` (chunks, tokens)."""

    chunk_ids: Sequence[Sequence[int]]
    offsets: np.ndarray
    pad_id: int
    device: torch.device

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: torch.Tensor) -> ChunkTokens:
        """Return the inputs of these rows, in their order."""
        places, offsets = chunk_places(self.offsets, rows)
        return ChunkTokens([self.chunk_ids[place] for place in places], offsets, self.pad_id, self.device)

    def to(self, device: torch.device) -> ChunkTokens:
        """Return the same inputs on a device."""
        return ChunkTokens(self.chunk_ids, self.offsets, self.pad_id, device)

    def padded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (ids, mask), each (chunks, longest) int64, on the device."""
        ids, mask = padded(self.chunk_ids, self.pad_id)
        return ids.to(self.device), mask.to(self.device)


def token_inputs(chunks: Chunks, pad_id: int) -> ChunkTokens:
    """Return chunked texts as inputs of a backbone that trains."""
    return ChunkTokens(chunks.ids, chunks.offsets, pad_id, torch.device("cpu"))
