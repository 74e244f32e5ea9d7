"""Long texts cut into chunks of tokens, and chunked texts as an encoder's inputs."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from statgraph.errors import UsageError

CPU = torch.device("cpu")
_BATCH = 1024


@dataclass(frozen=True)
class ChunkTokens:
    """Texts as chunks of token ids, special tokens included, padded where they are used: chunk c is `chunk_ids[c]`;
    text t has the chunks `offsets[t]` to `offsets[t + 1]`."""

    chunk_ids: Sequence[Sequence[int]]
    offsets: np.ndarray  # (texts + 1,) int64
    pad_id: int = 0
    device: torch.device = CPU

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


def chunked(
    tokenizer, texts: Sequence[str], *, prefix: str, chunk_tokens: int = 128, max_tokens: int = 1024, pad_id: int = 0
) -> ChunkTokens:
    """Return every text as chunks of at most `chunk_tokens` tokens, `max_tokens` in all (G-DSR, section 3.1).

    Each chunk is a text of its own to the backbone: it has the prefix in front and the special tokens around it.
    A text always has at least one chunk. The tokenizer is left without truncation and padding of its own.

    Raises:
        UsageError: if a chunk has no room for text beside the prefix and the special tokens.
    """
    tokenizer.no_truncation()
    tokenizer.no_padding()
    prefix_ids = tokenizer.encode(prefix.strip(), add_special_tokens=False).ids if prefix else []
    begin, end = _special_ids(tokenizer)
    around = len(prefix_ids) + len(begin) + len(end)
    chunk_tokens = min(chunk_tokens, max_tokens)
    room = chunk_tokens - around
    if room < 1:
        raise UsageError(
            f"encoder.chunk_tokens: {chunk_tokens} leaves no room for text beside the prefix and the special tokens; "
            f"chunk_tokens and max_tokens must be at least {around + 1}"
        )
    n_chunks = max_tokens // chunk_tokens
    ids: list[array] = []  # 4 bytes a token; a tuple of ints takes 36
    counts: list[int] = []
    for start in range(0, len(texts), _BATCH):
        for encoding in tokenizer.encode_batch_fast(list(texts[start : start + _BATCH]), add_special_tokens=False):
            pieces = encoding.ids[: room * n_chunks]
            cuts = range(0, max(len(pieces), 1), room)
            ids.extend(array("i", (*begin, *prefix_ids, *pieces[cut : cut + room], *end)) for cut in cuts)
            counts.append(len(cuts))
    return ChunkTokens(ids, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64), pad_id)


def _special_ids(tokenizer) -> tuple[list[int], list[int]]:
    """Return the special tokens that the tokenizer puts before and after a text."""
    with_special = tokenizer.encode("a").ids
    inner = tokenizer.encode("a", add_special_tokens=False).ids
    at = next(i for i in range(len(with_special)) if with_special[i : i + len(inner)] == inner)
    return with_special[:at], with_special[at + len(inner) :]


def padded(chunk_ids: Sequence[Sequence[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (ids, mask), each (chunks, longest) int64."""
    longest = max(map(len, chunk_ids))
    ids = torch.full((len(chunk_ids), longest), pad_id)
    mask = torch.zeros_like(ids)
    for row, chunk in enumerate(chunk_ids):
        ids[row, : len(chunk)] = torch.tensor(chunk)
        mask[row, : len(chunk)] = 1
    return ids, mask


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
