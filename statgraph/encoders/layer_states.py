"""What the layers below those that train give for each token, computed once and kept on disk."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from statgraph.artifacts import replaced_file
from statgraph.distributed import SINGLE, World
from statgraph.encoders.chunking import chunk_places, padded
from statgraph.encoders.frozen import token_batches, weights_fingerprint
from statgraph.errors import ModelError

Progress = Callable[[int, int], None]
_BYTES = np.dtype(np.float16).itemsize


class LayerStates:
    """A file of the states of chunks' tokens, (tokens, width) float16, read by chunk.

    Chunks are read where they are asked for, by offset, and nothing stays in memory: the file of 29,115 articles has
    some gigabytes, and pages of a memory map would count as the process's own.

    Args:
        path: the file, token after token.
        offsets: (chunks + 1,) where each chunk begins, in tokens.
        width: components of a state.
    """

    def __init__(self, path: Path, offsets: np.ndarray, width: int):
        self._file = path.open("rb")
        self._offsets = offsets
        self.width = width

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def length(self, row: int) -> int:
        """Return the tokens of one chunk."""
        return int(self._offsets[row + 1] - self._offsets[row])

    def chunk(self, row: int) -> np.ndarray:
        """Return the states of one chunk, (tokens, width) float16."""
        begin, end = (int(offset) * self.width * _BYTES for offset in self._offsets[row : row + 2])
        raw = os.pread(self._file.fileno(), end - begin, begin)
        return np.frombuffer(raw, dtype=np.float16).reshape(-1, self.width)


def layer_states(
    model,
    chunk_ids: Sequence[Sequence[int]],
    *,
    pad_id: int,
    dtype: torch.dtype,
    folder: Path,
    progress: Progress = lambda done, total: None,
    world: World = SINGLE,
) -> LayerStates:
    """Return the states that a frozen model gives for the tokens of chunks, computed unless the folder has them.

    Args:
        model: what gives `last_hidden_state`; it is moved to `dtype` for good.
        chunk_ids: the token ids of each chunk.
        folder: where files are kept, by the model's weights and the chunks.
        world: the processes that compute them together; the first writes, and all read its file.

    Raises:
        ModelError: if a process does not see the file of the first.
    """
    offsets = np.concatenate([[0], np.cumsum([len(chunk) for chunk in chunk_ids], dtype=np.int64)])
    width = model.config.hidden_size
    path = folder / f"{_fingerprint(model, chunk_ids, dtype)}.float16"
    n_bytes = int(offsets[-1]) * width * _BYTES
    if not world.json_from_first(lambda: path.is_file() and path.stat().st_size == n_bytes):
        computed = _computed(model.to(dtype=dtype).eval(), chunk_ids, pad_id, world)
        if world.is_first:
            with replaced_file(path) as staging:
                _write(staging, computed, offsets, width, progress)
        else:
            for _ in computed:
                pass  # this process's share, which the first one writes
        world.barrier()
    if not path.is_file():
        raise ModelError(
            f"{path}: not there for this process; name a folder that all machines share in STATGRAPH_CACHE"
        )
    return LayerStates(path, offsets, width)


def _computed(
    model, chunk_ids: Sequence[Sequence[int]], pad_id: int, world: World
) -> Iterator[tuple[list[int], np.ndarray]]:
    """Yield chunk rows with the states of their tokens, (tokens of them all, width) float16, the shortest chunks first;
    the processes compute as many batches at a time as they are."""
    by_length = sorted(range(len(chunk_ids)), key=lambda row: len(chunk_ids[row]))
    batches = list(token_batches(by_length, lambda row: len(chunk_ids[row])))
    for start in range(0, len(batches), world.size):
        together = batches[start : start + world.size]
        own = together[world.rank] if world.rank < len(together) else []
        states = np.empty((0, model.config.hidden_size), dtype=np.float16)
        if own:
            ids, mask = padded([chunk_ids[row] for row in own], pad_id)
            with torch.inference_mode():
                hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state.to(torch.float16)
            states = hidden[mask.bool()].numpy()
        counts = [sum(len(chunk_ids[row]) for row in batch) for batch in together]
        counts += [0] * (world.size - len(together))
        yield [row for batch in together for row in batch], world.all_rows(states, counts)


def _write(
    path: Path,
    computed: Iterator[tuple[list[int], np.ndarray]],
    offsets: np.ndarray,
    width: int,
    progress: Progress,
) -> None:
    done = 0
    with path.open("wb") as file:
        for rows, states in computed:
            begin = 0
            for row in rows:
                end = begin + int(offsets[row + 1] - offsets[row])
                file.seek(int(offsets[row]) * width * _BYTES)
                file.write(states[begin:end].tobytes())
                begin = end
            done += len(rows)
            progress(done, len(offsets) - 1)


def _fingerprint(model, chunk_ids: Sequence[Sequence[int]], dtype: torch.dtype) -> str:
    digest = hashlib.sha256(weights_fingerprint(model, pooling="layers", dtype=dtype).encode())
    for chunk in chunk_ids:
        ids = np.asarray(chunk, dtype="<i4")
        digest.update(len(ids).to_bytes(4, "little"))
        digest.update(ids.tobytes())
    return digest.hexdigest()[:24]


@dataclass(frozen=True)
class ChunkStates:
    """Texts as the states of their chunks' tokens: chunk c is `rows[c]` of `states`; `offsets` (texts + 1,)."""

    states: LayerStates
    rows: np.ndarray
    offsets: np.ndarray

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: torch.Tensor) -> ChunkStates:
        """Return the inputs of these rows, in their order."""
        places, offsets = chunk_places(self.offsets, rows)
        return ChunkStates(self.states, self.rows[places], offsets)

    def to(self, device: torch.device) -> ChunkStates:
        """Return the same inputs: states are kept where there is no faster device."""
        return self

    def parts(self, most_tokens: int) -> Iterator[tuple[list[int], ChunkStates]]:
        """Yield chunks of about equal length together: their places among these, and their states as texts of one chunk
        each; a part has at most `most_tokens` tokens with its padding, or one chunk."""

        def length(place: int) -> int:
            return self.states.length(self.rows[place])

        for places in token_batches(sorted(range(len(self.rows)), key=length), length, most_tokens):
            yield places, ChunkStates(self.states, self.rows[places], np.arange(len(places) + 1))

    def padded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (states (chunks, longest, width) float32, mask (chunks, longest) int64), zeros past the end."""
        lengths = np.array([self.states.length(row) for row in self.rows.tolist()])
        states = np.zeros((len(lengths), lengths.max(), self.states.width), dtype=np.float16)
        for place, (row, length) in enumerate(zip(self.rows.tolist(), lengths.tolist(), strict=True)):
            states[place, :length] = self.states.chunk(row)
        mask = np.arange(lengths.max()) < lengths[:, None]
        return torch.from_numpy(states).float(), torch.from_numpy(mask.astype(np.int64))
