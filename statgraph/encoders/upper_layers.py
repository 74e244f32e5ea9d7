"""The last layers of a transformer where they alone train: they go on from what the frozen ones below gave."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping

import numpy as np
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from statgraph.distributed import SINGLE, World
from statgraph.encoders.backbones import cache_folder
from statgraph.encoders.cheap_dropout import CheapDropout
from statgraph.encoders.chunking import Chunks
from statgraph.encoders.frozen import pooled
from statgraph.encoders.layer_states import ChunkStates, layer_states
from statgraph.encoders.split_model import split_model
from statgraph.encoders.tower import Tower
from statgraph.memory import FreedMemory

_TOKENS_PER_PART = 4096


def lower_states(
    tower: Tower,
    chunks: Chunks,
    n_upper: int,
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    world: World = SINGLE,
) -> ChunkStates:
    """Return what the layers below the last `n_upper` give for the tokens of chunks, computed once and kept on disk.

    Args:
        tower: one whose model `split_model` can cut.
        progress: is told how many chunks are done, of how many.
        world: the processes that compute them together.
    """
    lower, _ = split_model(tower.model, n_upper)
    states = layer_states(
        copy.deepcopy(lower),  # its weights are rounded to the inference precision
        chunks.ids,
        pad_id=tower.tokenizer.pad_token_id,
        dtype=tower.dtype,
        folder=cache_folder() / "layers",
        progress=progress,
        world=world,
    )
    return ChunkStates(states, np.arange(len(chunks.ids)), chunks.offsets)


class UpperLayers:
    """The last layers of some models, which go on from `lower_states`; their weights are the models' own."""

    def __init__(self, uppers: Mapping[str, nn.Module], dtype: torch.dtype):
        self._uppers = uppers
        self._dtype = dtype  # that the layers below ran in
        self._freed_memory = FreedMemory()

    @classmethod
    def of(cls, models: Mapping[str, nn.Module], n_upper: int, dtype: torch.dtype) -> UpperLayers | None:
        """Return the last `n_upper` layers of models by name; None where one cannot be cut in two."""
        parts = {name: split_model(model, n_upper) for name, model in models.items()}
        return cls({name: part[1] for name, part in parts.items()}, dtype) if all(parts.values()) else None

    def vectors(self, inputs: ChunkStates, name: str, pooling: str) -> torch.Tensor:
        """Return the vectors of chunks, (chunks, width) float32, pooled by mean or cls.

        A part at a time, and each part anew for its gradient: what two layers keep for one of a hundred articles at
        once is some gigabytes.
        """
        places, vectors = [], []
        for part_places, part in inputs.parts(_TOKENS_PER_PART):
            places += part_places
            vectors.append(checkpoint(self._part, part, name, pooling, use_reentrant=False))
            self._freed_memory.give_back()
        return torch.cat(vectors)[torch.from_numpy(np.argsort(places))]

    def _part(self, inputs: ChunkStates, name: str, pooling: str) -> torch.Tensor:
        tokens, mask = inputs.padded()
        # In the precision that the layers below ran in: an epoch is nearly all matrix products.
        fast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._dtype == torch.bfloat16)
        with fast, CheapDropout():
            hidden = self._uppers[name](inputs_embeds=tokens, attention_mask=mask).last_hidden_state
        return pooled(hidden.float(), mask, pooling)
