"""A frozen transformer: token ids in, pooled vectors out, each text computed once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from statgraph.distributed import SINGLE, World
from statgraph.encoders.vector_cache import KEY_BYTES, VectorCache

TOKENS_PER_BATCH = 8192
_SHARD_CHUNKS = 4096

Progress = Callable[[int, int], None]
_Item = TypeVar("_Item")


def pooled(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Return one vector per text, (texts, width): the first token's (`cls`) or the mean over real tokens (`mean`).

    Args:
        hidden: (texts, tokens, width).
        mask: (texts, tokens), 1 for a real token.
    """
    if pooling == "cls":
        return hidden[:, 0]
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


def padded(chunk_ids: Sequence[Sequence[int]], pad_id: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (ids, mask), each (chunks, longest) int64."""
    longest = max(map(len, chunk_ids))
    ids = torch.full((len(chunk_ids), longest), pad_id)
    mask = torch.zeros_like(ids)
    for row, chunk in enumerate(chunk_ids):
        ids[row, : len(chunk)] = torch.tensor(chunk)
        mask[row, : len(chunk)] = 1
    return ids, mask


def embedded_chunks(
    model,
    chunk_ids: Sequence[Sequence[int]],
    *,
    pooling: str,
    pad_id: int,
    device: torch.device,
    dtype: torch.dtype,
    cache: VectorCache | None,
    progress: Progress = lambda done, total: None,
    world: World = SINGLE,
) -> np.ndarray:
    """Return the pooled vector of every chunk, (chunks, width) float16, taking from the cache what is there.

    New ones are computed in batches of equal token budget, sorted by length, and saved a shard at a time, so that an
    interrupted run goes on where it was. Each process computes its part of a shard's batches; the first looks into
    the cache and fills it for all, and only it needs one.
    """
    keys = [_key(chunk) for chunk in chunk_ids]
    ordered = world.json_from_first(lambda: _missing(keys, chunk_ids, cache))
    if ordered:
        model = model.to(device=device, dtype=dtype).eval()
    for start in range(0, len(ordered), _SHARD_CHUNKS):
        shard = ordered[start : start + _SHARD_CHUNKS]
        batches = list(token_batches(shard, lambda row: len(chunk_ids[row])))
        vectors, done = [], start
        for batch in batches[world.part(len(batches))]:
            ids, mask = padded([chunk_ids[row] for row in batch], pad_id)
            ids, mask = ids.to(device), mask.to(device)
            with torch.inference_mode():
                hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
                vectors.append(pooled(hidden.float(), mask, pooling).cpu().numpy())
            done += len(batch)
            progress(done, len(ordered))
        own = np.concatenate(vectors) if vectors else np.empty((0, model.config.hidden_size), dtype=np.float32)
        counts = [sum(map(len, batches[world.part(len(batches), rank)])) for rank in range(world.size)]
        computed = world.all_rows(own, counts)
        if done < start + len(shard):  # the other processes' batches
            progress(start + len(shard), len(ordered))
        if world.is_first:
            cache.add([keys[row] for row in shard], computed)
    return world.array_from_first(lambda: cache.vectors(keys))


def weights_fingerprint(model, *, pooling: str, dtype: torch.dtype) -> str:
    """Return a hex name for "this model, pooled this way, at this precision": what a vector cache belongs to."""
    digest = hashlib.sha256(f"{pooling} {dtype}".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().data)
    return digest.hexdigest()[:24]


def cache_for(model, *, folder: Path, pooling: str, dtype: torch.dtype) -> VectorCache:
    """Return the vector cache of a frozen model under a folder."""
    return VectorCache(folder / weights_fingerprint(model, pooling=pooling, dtype=dtype))


def _missing(keys: Sequence[bytes], chunk_ids: Sequence[Sequence[int]], cache: VectorCache) -> list[int]:
    """Return one row of each key that the cache does not hold, the shortest chunks first."""
    rows: dict[bytes, int] = {}
    for row, key in enumerate(keys):
        if key not in cache:
            rows.setdefault(key, row)
    return sorted(rows.values(), key=lambda row: len(chunk_ids[row]))


def _key(chunk: Sequence[int]) -> bytes:
    return hashlib.sha256(np.asarray(chunk, dtype="<i4").tobytes()).digest()[:KEY_BYTES]


def token_batches(
    items: Sequence[_Item], length: Callable[[_Item], int], most_tokens: int | None = None
) -> Iterator[list[_Item]]:
    """Yield runs of items (sorted by `length`, in tokens) whose padded size stays within `most_tokens`, as a rule
    `TOKENS_PER_BATCH`; an item that is longer stands alone."""
    most_tokens = most_tokens or TOKENS_PER_BATCH
    batch: list[_Item] = []
    for item in items:
        if batch and length(item) * (len(batch) + 1) > most_tokens:
            yield batch
            batch = []
        batch.append(item)
    if batch:
        yield batch
