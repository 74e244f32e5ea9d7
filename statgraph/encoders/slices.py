"""A backbone that trains, run a slice of a large batch at a time: what it keeps for the gradient is a slice's."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint

from statgraph.config import EncoderConfig
from statgraph.device import device_memory
from statgraph.encoders.chunking import ChunkTokens
from statgraph.encoders.frozen import token_batches

WHOLE = 0  # of encoder.slice_tokens: no slices
_AUTO = -1
_MIN_TOKENS = 1024
# A step may encode questions, headings, citing texts and articles: each may keep a slice without doing it again.
CALLS_A_STEP = 4
# Of a device's memory: what slices are chosen for. The rest is the driver's, the graph's and what is lost between.
USED_SHARE = 0.75
# Bytes of a trained parameter: it and its gradient, AdamW's two moments, and autocast's copy.
BYTES_PER_PARAMETER = 18


def in_slices(
    encode: Callable[[ChunkTokens], torch.Tensor], slices: Iterator[tuple[list[int], ChunkTokens]]
) -> torch.Tensor:
    """Return the vectors of all slices (the places of a slice's chunks among all, and the slice), (chunks, width), in
    the order of the chunks.

    A slice is encoded without what its gradient needs, and again, with the same dropout, when its gradient is asked
    for. So the loss is over all vectors at once, and one slice's activations are held at a time (GradCache: Gao et al.
    2021, by torch's checkpoints).
    """
    places, vectors = [], []
    for slice_places, part in slices:
        places += slice_places
        vectors.append(checkpoint(encode, part, use_reentrant=False))
    return torch.cat(vectors)[torch.from_numpy(np.argsort(places)).to(vectors[0].device)]


def token_slices(inputs: ChunkTokens, most_tokens: int) -> Iterator[tuple[list[int], ChunkTokens]]:
    """Yield chunks of about equal length together: their places among these, and they as texts of one chunk each; a
    slice has at most `most_tokens` tokens with its padding, or one chunk."""
    ids = inputs.chunk_ids
    by_length = sorted(range(len(ids)), key=lambda place: len(ids[place]))
    for places in token_batches(by_length, lambda place: len(ids[place]), most_tokens):
        chosen = [ids[place] for place in places]
        yield places, ChunkTokens(chosen, np.arange(len(places) + 1), inputs.pad_id, inputs.device)


def padded_tokens(inputs: ChunkTokens) -> int:
    """Return the tokens of all chunks padded to the longest."""
    return len(inputs.chunk_ids) * max(map(len, inputs.chunk_ids), default=0)


def slice_tokens(config: EncoderConfig, about, device: torch.device, *, n_parameters: int) -> int:
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


def bytes_per_token(about) -> int:
    """Return what a transformer of this configuration keeps of one token for the gradient, in bytes, in 16 bits under
    autocast, attention fused.

    By layer, of width h and intermediate width f: a copy of the input for each of query, key and value (3h), these
    (3h), what attention gives (h), the copy for the intermediate layer (h), what the activation takes and gives (2f),
    at 2 bytes; the inputs of both layer norms (2h) at 4; two dropout masks (2h) at 1.
    """
    width = about.hidden_size
    inner = getattr(about, "intermediate_size", None) or getattr(about, "hidden_dim", 4 * width)
    return about.num_hidden_layers * (2 * (8 * width + 2 * inner) + 4 * 2 * width + 2 * width)
