"""A transformer cut in two between layers: the lower part is computed once, the upper part trains."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import torch
from torch import nn

from statgraph.cache import cache_root
from statgraph.distributed import SINGLE, World
from statgraph.dropout import CheapDropout
from statgraph.encoders.chunking import Chunks
from statgraph.encoders.frozen import pooled
from statgraph.encoders.layer_states import ChunkStates, layer_states
from statgraph.encoders.slices import in_slices
from statgraph.encoders.tower import Tower
from statgraph.errors import ModelError
from statgraph.memory import FreedMemory

# Where families keep their layers: in a list inside of a module that runs them.
_STACKS = ("encoder.layer", "transformer.layer", "encoder.layers", "layers")
_TOLERANCE = 1e-3


def layers_of(model: nn.Module) -> nn.ModuleList:
    """Return a transformer's layers, whatever its family calls them.

    Raises:
        ModelError: if they are not where any known family has them.
    """
    return model.get_submodule(_stack_name(model))


def freeze_lower(model: nn.Module, n_upper: int) -> None:
    """Leave gradients on for the last `n_upper` layers alone, or for all layers where there are fewer.

    Raises:
        ModelError: if the layers are not known.
    """
    layers = layers_of(model)
    model.requires_grad_(False)
    for layer in layers[max(0, len(layers) - n_upper) :]:
        layer.requires_grad_(True)


def split_model(model: nn.Module, n_upper: int) -> tuple[nn.Module, nn.Module] | None:
    """Return (lower, upper), which share the model's weights: `lower(input_ids, attention_mask)` gives the states that
    `upper(inputs_embeds=states, attention_mask)` goes on from, each as `last_hidden_state` (texts, tokens, width).

    The upper part has the last `n_upper` layers, or all where there are fewer. None where both together do not give
    what the model gives, as in families that do more between embeddings and layers.
    """
    layers = layers_of(model)
    at = max(0, len(layers) - n_upper)
    if not hasattr(model, "embeddings"):
        return None
    lower = _with_layers(model, layers[:at])
    upper = _with_layers(model, layers[at:])
    upper.embeddings = _Passed()
    return (lower, upper) if _agrees(model, lower, upper) else None


class _Passed(nn.Module):
    """Stands for the embeddings where vectors come in that have passed them already."""

    def forward(self, input_ids=None, inputs_embeds=None, *places, **rest) -> torch.Tensor:
        return inputs_embeds


def _stack_name(model: nn.Module) -> str:
    for name in _STACKS:
        try:
            model.get_submodule(name)
        except AttributeError:
            continue
        return name
    raise ModelError(f"encoder.train: the layers of a {type(model).__name__} are not known; use none, head or full")


def _with_layers(model: nn.Module, layers: nn.ModuleList) -> nn.Module:
    """Return the model with other layers; everything else is shared with it."""
    holder_name, _, list_name = _stack_name(model).rpartition(".")
    view = _shallow(model)
    holder = view
    if holder_name:
        holder = _shallow(model.get_submodule(holder_name))
        setattr(view, holder_name, holder)
    setattr(holder, list_name, layers)
    return view


def _shallow(module: nn.Module) -> nn.Module:
    view = copy.copy(module)
    view.__dict__["_modules"] = dict(module._modules)
    return view


def _agrees(model: nn.Module, lower: nn.Module, upper: nn.Module) -> bool:
    """Return whether both parts, one after the other, compute what the model does: on two texts, one of them padded."""
    ids = torch.arange(10).reshape(2, 5) % model.config.vocab_size
    mask = torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    was_training = model.training
    parts = (model, lower, upper)
    for part in parts:
        part.eval()
    try:
        with torch.no_grad():
            whole = model(input_ids=ids, attention_mask=mask).last_hidden_state
            states = lower(input_ids=ids, attention_mask=mask).last_hidden_state
            found = upper(inputs_embeds=states, attention_mask=mask).last_hidden_state
    except (TypeError, ValueError, RuntimeError, AttributeError):
        return False
    finally:
        for part in parts:
            part.train(was_training)
    return torch.allclose(whole[mask.bool()], found[mask.bool()], atol=_TOLERANCE)


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
        folder=cache_root() / "layers",
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

        In slices: what two layers keep for one of a hundred articles at once is some gigabytes.
        """
        encode = partial(self._part, name=name, pooling=pooling)
        return in_slices(encode, inputs.parts(_TOKENS_PER_PART), self._freed_memory.give_back)

    def _part(self, inputs: ChunkStates, *, name: str, pooling: str) -> torch.Tensor:
        tokens, mask = inputs.padded()
        # In the precision that the layers below ran in: an epoch is nearly all matrix products.
        fast = torch.autocast("cpu", dtype=torch.bfloat16, enabled=self._dtype == torch.bfloat16)
        with fast, CheapDropout():
            hidden = self._uppers[name](inputs_embeds=tokens, attention_mask=mask).last_hidden_state
        return pooled(hidden.float(), mask, pooling)
