"""Long texts cut into chunks of tokens, chunked texts as an encoder's inputs, and how many go through it at once."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from statgraph.config import EncoderConfig
from statgraph.device import device_memory, free_memory, on_device
from statgraph.encoders.vocabulary import token_ids
from statgraph.errors import UsageError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PretrainedConfig

CPU = torch.device("cpu")
TOKENS_PER_BATCH = 8192
_MOST_TOKENS_PER_BATCH = 1 << 17
WHOLE = 0  # of encoder.slice_tokens: no slices
_AUTO = -1
_MIN_TOKENS = 1024
# A step may encode questions, headings, citing texts and articles: each may keep a slice without doing it again.
CALLS_A_STEP = 4
# Of a device's memory: what slices are chosen for. The rest is the driver's, the graph's and what is lost between.
USED_SHARE = 0.75
# Bytes of a trained parameter: it and its gradient, AdamW's two moments, and autocast's copy.
BYTES_PER_PARAMETER = 18

_Item = TypeVar("_Item")


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
        return on_device(ids, self.device), on_device(mask, self.device)


def chunked(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    *,
    prefix: str,
    chunk_tokens: int = 128,
    max_tokens: int = 1024,
    pad_id: int = 0,
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
    ids: list[array[int]] = []  # 4 bytes a token; a tuple of ints takes 36
    counts: list[int] = []
    for text_ids in token_ids(tokenizer, texts):
        pieces = text_ids[: room * n_chunks]
        cuts = range(0, max(len(pieces), 1), room)
        ids.extend(array("i", (*begin, *prefix_ids, *pieces[cut : cut + room], *end)) for cut in cuts)
        counts.append(len(cuts))
    return ChunkTokens(ids, np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64), pad_id)


def _special_ids(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
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
        return ChunkVectors(on_device(self.vectors, device), self.offsets)


def token_batches(items: Sequence[_Item], length: Callable[[_Item], int], most_tokens: int) -> Iterator[list[_Item]]:
    """Yield runs of items (sorted by `length`, in tokens) whose padded size stays within `most_tokens`; a longer
    item is a run of its own."""
    batch: list[_Item] = []
    for item in items:
        if batch and length(item) * (len(batch) + 1) > most_tokens:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch


def in_slices(
    encode: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], inputs: ChunkTokens, most_tokens: int
) -> torch.Tensor:
    """Return the vectors of all chunks, (chunks, width), by a function of (ids, mask), each (chunks, tokens).

    Where the chunks have more than `most_tokens` tokens with their padding, they go through it in slices, those of
    about equal length together. A slice is encoded without what its gradient needs, and again, with the same dropout,
    when its gradient is asked for. So the loss is over all vectors at once, and one slice's activations are held at a
    time (GradCache: Gao et al. 2021, by torch's checkpoints).
    """
    ids = inputs.chunk_ids
    if not 0 < most_tokens < len(ids) * max(map(len, ids), default=0):
        return encode(*inputs.padded())
    places, vectors = [], []
    by_length = sorted(range(len(ids)), key=lambda place: len(ids[place]))
    for slice_places in token_batches(by_length, lambda place: len(ids[place]), most_tokens):
        tokens, mask = padded([ids[place] for place in slice_places], inputs.pad_id)
        places += slice_places
        # As tensors: it is on the devices of these that torch remembers the state of the dropout.
        part = on_device(tokens, inputs.device), on_device(mask, inputs.device)
        vectors.append(checkpoint(encode, *part, use_reentrant=False))
    return torch.cat(vectors)[on_device(torch.from_numpy(np.argsort(places)), vectors[0].device)]


def slice_tokens(config: EncoderConfig, about: PretrainedConfig, device: torch.device, *, n_parameters: int) -> int:
    """Return the most tokens that are encoded at once, `WHOLE` for any number: `encoder.slice_tokens`; in place of auto
    on a CPU `WHOLE`, on CUDA what the calls of a step can keep in the memory that the encoders leave.

    Args:
        about: the configuration of a transformers model.
        n_parameters: how many parameters train.
    """
    if config.slice_tokens != _AUTO:
        return config.slice_tokens
    if device.type != "cuda":
        return WHOLE
    left = USED_SHARE * device_memory(device) - BYTES_PER_PARAMETER * n_parameters
    return max(_MIN_TOKENS, int(left / (CALLS_A_STEP * bytes_per_token(about))))


def tokens_at_once(about: PretrainedConfig, device: torch.device) -> int:
    """Return how many tokens a frozen transformer of this configuration reads at once: `TOKENS_PER_BATCH` on a CPU; on
    CUDA more, as many as a quarter of the free memory holds one layer of, but no more than keep any device busy."""
    if device.type != "cuda":
        return TOKENS_PER_BATCH
    layers: int = about.num_hidden_layers
    fitting = free_memory(device) // (4 * bytes_per_token(about) // layers)
    return min(max(fitting, TOKENS_PER_BATCH), _MOST_TOKENS_PER_BATCH)


def bytes_per_token(about: PretrainedConfig) -> int:
    """Return what a transformer of this configuration keeps of one token for the gradient, in bytes, in 16 bits under
    autocast, attention fused.

    By layer, of width h and intermediate width f: a copy of the input for each of query, key and value (3h), these
    (3h), what attention gives (h), the copy for the intermediate layer (h), what the activation takes and gives (2f),
    at 2 bytes; the inputs of both layer norms (2h) at 4; two dropout masks (2h) at 1.
    """
    width: int = about.hidden_size
    layers: int = about.num_hidden_layers
    inner: int = getattr(about, "intermediate_size", 0) or getattr(about, "hidden_dim", 4 * width)
    return layers * (2 * (8 * width + 2 * inner) + 4 * 2 * width + 2 * width)
