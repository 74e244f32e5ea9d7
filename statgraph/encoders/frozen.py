"""A frozen transformer: token ids in, pooled vectors out, each text computed once and kept on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from statgraph.artifacts import array_damage_as_value_error, replaced_file
from statgraph.cache import place_of
from statgraph.device import on_device
from statgraph.distributed import current_world
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.chunking import ChunkTokens, chunked, padded, token_batches, tokens_at_once

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

_SHARD_CHUNKS = 4096


def pooled(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """Return one vector per text, (texts, width): the first token's (`cls`), or the mean or maximum over real
    tokens (`mean`, `max`).

    Args:
        hidden: (texts, tokens, width).
        mask: (texts, tokens), 1 for a real token.
    """
    if pooling == "cls":
        return hidden[:, 0]
    if pooling == "max":
        return hidden.masked_fill(mask.unsqueeze(-1) == 0, -torch.inf).amax(dim=1)
    weights = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


@dataclass(frozen=True, eq=False)
class Tower:
    """One side of a transformer pair: a backbone with its transformers fast tokenizer and model. Where it is frozen,
    the model runs on `device` in `dtype`, to which its weights are then rounded for good."""

    backbone: Backbone
    tokenizer: PreTrainedTokenizerFast
    model: PreTrainedModel
    device: torch.device
    dtype: torch.dtype

    @cached_property
    def vector_cache(self) -> VectorCache:
        """Return the cache on disk of the frozen model's vectors."""
        name = weights_fingerprint(self.model, pooling=self.backbone.pooling, dtype=self.dtype)
        return VectorCache(place_of("vectors", name))

    @property
    def pad_id(self) -> int:
        """Return the token that fills up shorter chunks."""
        return self.tokenizer.pad_token_id or 0

    def chunks(self, texts: Sequence[str], *, prefix: str, chunk_tokens: int, max_tokens: int) -> ChunkTokens:
        """Return texts as chunks of token ids."""
        plain, pad_id = self.tokenizer.backend_tokenizer, self.pad_id
        return chunked(plain, texts, prefix=prefix, chunk_tokens=chunk_tokens, max_tokens=max_tokens, pad_id=pad_id)


def embedded_chunks(
    tower: Tower,
    chunk_ids: Sequence[Sequence[int]],
    *,
    cache: VectorCache | None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> np.ndarray:
    """Return the pooled vector of every chunk, (chunks, width) as the cache keeps them, taking from it what is there.

    New ones are computed in batches of equal token budget, sorted by length, and saved a shard at a time, so that an
    interrupted run continues where it was; `progress` gets the tokens that are done and those in all. Each process
    computes its part of a shard's batches; the first looks into the cache and fills it for all, and only it needs one.
    """

    def cache_of_first() -> VectorCache:
        assert cache is not None
        return cache

    world, keys = current_world(), [_key(chunk) for chunk in chunk_ids]
    ordered = world.json_from_first(lambda: _missing(keys, chunk_ids, cache_of_first()))
    sizes, most = [len(chunk_ids[row]) for row in ordered], tokens_at_once(tower.model.config, tower.device)
    for start in range(0, len(ordered), _SHARD_CHUNKS):
        shard = ordered[start : start + _SHARD_CHUNKS]
        batches = list(token_batches(shard, lambda row: len(chunk_ids[row]), most))
        vectors, done = [], sum(sizes[:start])
        for batch in batches[world.part(len(batches))]:
            hidden, mask = _hidden(tower, [chunk_ids[row] for row in batch])
            vectors.append(pooled(hidden, mask, tower.backbone.pooling))
            done += sum(len(chunk_ids[row]) for row in batch)
            progress(done, sum(sizes))
        # One copy a shard: a GPU goes from batch to batch without the host.
        own = torch.cat(vectors) if vectors else torch.empty(0, tower.model.config.hidden_size)
        counts = [sum(map(len, batches[world.part(len(batches), rank)])) for rank in range(world.size)]
        computed = world.all_rows(own.cpu().numpy(), counts)
        if done < sum(sizes[: start + len(shard)]):  # the other processes' batches
            progress(sum(sizes[: start + len(shard)]), sum(sizes))
        if world.is_first:
            cache_of_first().add([keys[row] for row in shard], computed)
    return world.array_from_first(lambda: cache_of_first().vectors(keys))


def embedded_tokens(tower: Tower, chunk_ids: Sequence[Sequence[int]]) -> list[np.ndarray]:
    """Return the vectors of every chunk's tokens, each (tokens, width) float32; none is kept."""
    vectors: dict[int, np.ndarray] = {}
    rows = sorted(range(len(chunk_ids)), key=lambda row: len(chunk_ids[row]))
    most = tokens_at_once(tower.model.config, tower.device)
    for batch in token_batches(rows, lambda row: len(chunk_ids[row]), most):
        hidden = _hidden(tower, [chunk_ids[row] for row in batch])[0].cpu().numpy()
        vectors |= {row: states[: len(chunk_ids[row])] for row, states in zip(batch, hidden, strict=True)}
    return [vectors[row] for row in range(len(chunk_ids))]


@torch.inference_mode()  # type: ignore[untyped-decorator]
def _hidden(tower: Tower, chunk_ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the last layer's states (chunks, longest, width) float32, and the mask of `padded`."""
    model = tower.model.to(device=tower.device, dtype=tower.dtype).eval()
    ids, mask = (on_device(each, tower.device) for each in padded(chunk_ids, tower.pad_id))
    return model(input_ids=ids, attention_mask=mask).last_hidden_state.float(), mask


def weights_fingerprint(model: PreTrainedModel, *, pooling: str, dtype: torch.dtype) -> str:
    """Return a hex name for "this model, pooled this way, at this precision": what a vector cache belongs to."""
    digest = hashlib.sha256(f"{pooling} {dtype}".encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().data)
    return digest.hexdigest()[:24]


def _missing(keys: Sequence[bytes], chunk_ids: Sequence[Sequence[int]], cache: VectorCache) -> list[int]:
    """Return one row of each key that the cache does not hold, the shortest chunks first."""
    rows: dict[bytes, int] = {}
    for row, key in enumerate(keys):
        if key not in cache:
            rows.setdefault(key, row)
    return sorted(rows.values(), key=lambda row: len(chunk_ids[row]))


def _key(chunk: Sequence[int]) -> bytes:
    return hashlib.sha256(np.asarray(chunk, dtype="<i4").tobytes()).digest()[:KEY_BYTES]


KEY_BYTES = 16


class KeyedRows:
    """Rows of several arrays (n, width) by keys of 16 bytes; a key that comes again keeps its first row."""

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._places: dict[bytes, tuple[int, int]] = {}

    def __contains__(self, key: bytes) -> bool:
        return key in self._places

    def add(self, keys: np.ndarray, vectors: np.ndarray) -> None:
        """Take vectors (n, width) under their keys (n, 16) uint8."""
        for row, key in enumerate(split_keys(keys)):
            self._places.setdefault(key, (len(self._arrays), row))
        self._arrays.append(vectors)

    def rows(self, keys: Sequence[bytes], dtype: type[np.floating]) -> np.ndarray:
        """Return the vectors of these keys, (keys, width); all must be known."""
        places = np.array([self._places[key] for key in keys], dtype=np.int64).reshape(-1, 2)
        vectors: np.ndarray = np.empty((len(places), self._arrays[0].shape[1] if self._arrays else 0), dtype=dtype)
        for number in np.unique(places[:, 0]):
            chosen = places[:, 0] == number
            vectors[chosen] = self._arrays[number][places[chosen, 1]]
        return vectors


def split_keys(keys: np.ndarray) -> list[bytes]:
    """Return the rows of (n, 16) uint8 as bytes."""
    raw = np.ascontiguousarray(keys).tobytes()
    return [raw[start : start + KEY_BYTES] for start in range(0, len(raw), KEY_BYTES)]


class VectorCache:
    """A folder of shards (`*.npz`: keys (n, 16) uint8 and vectors (n, width) of `dtype`) for one frozen encoder.

    A shard is written whole and then renamed, so a killed run leaves every finished shard usable. One that cannot be
    read (a copy that was cut short, a full disk) counts as absent, and what it held is computed again.
    """

    def __init__(self, folder: Path, dtype: type[np.floating] = np.float16):
        self._folder = Path(folder)
        self._dtype = dtype
        self._known = KeyedRows()
        for path in sorted(self._folder.glob("*.npz")):
            shard = _read_shard(path)
            if shard:
                self._known.add(*shard)

    def __contains__(self, key: bytes) -> bool:
        return key in self._known

    def add(self, keys: Sequence[bytes], vectors: np.ndarray) -> None:
        """Save vectors (n, width) under their keys (16 bytes each)."""
        if not len(keys):
            return
        key_rows = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY_BYTES)
        kept: np.ndarray = vectors.astype(self._dtype)
        target = self._folder / f"{keys[0].hex()}-{len(keys)}.npz"
        with replaced_file(target) as staging, staging.open("wb") as file:
            np.savez(file, keys=key_rows, vectors=kept)
        self._known.add(key_rows, kept)

    def vectors(self, keys: Sequence[bytes]) -> np.ndarray:
        """Return the vectors of these keys, (keys, width); all must be in the cache."""
        return self._known.rows(keys, self._dtype)


def _read_shard(path: Path) -> tuple[np.ndarray, np.ndarray] | None:
    """Return (keys, vectors), or None where the file is damaged or has just gone."""
    try:
        with array_damage_as_value_error(), np.load(path, allow_pickle=False) as shard:
            keys, vectors = shard["keys"], shard["vectors"]
    except (FileNotFoundError, KeyError, ValueError):
        return None
    return (keys, vectors) if len(keys) == len(vectors) else None
