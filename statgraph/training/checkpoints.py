"""Training state on disk, as safetensors and JSON: weights, optimiser moments, and how far the stage has come."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch

from statgraph.artifacts import read_json, replaced_folder, write_json
from statgraph.distributed import SINGLE, World
from statgraph.errors import RunError

WEIGHTS = "weights.safetensors"
OPTIMIZER = "optimizer.safetensors"
PROGRESS = "progress.json"


def save_checkpoint(
    folder: Path,
    weights: Mapping[str, torch.Tensor],
    progress: Mapping[str, object],
    optimizer: torch.optim.Optimizer | None = None,
) -> None:
    """Write a checkpoint folder, whole or not at all."""
    from safetensors.torch import save_file

    with replaced_folder(folder) as staging:
        save_file(_detached(weights), staging / WEIGHTS)
        if optimizer is not None:
            save_file(_detached(_moments(optimizer)), staging / OPTIMIZER)
        write_json(staging / PROGRESS, progress)


def load_weights(folder: Path, world: World = SINGLE) -> Mapping[str, torch.Tensor]:
    """Return the weights of a checkpoint by name; of several processes the first reads them for all.

    Raises:
        RunError: if they are missing or damaged.
    """
    return world.tensors_from_first(lambda: _tensors(folder / WEIGHTS))


def load_progress(folder: Path, world: World = SINGLE) -> dict | None:
    """Return how far the stage had come, or None where there is no checkpoint; of several processes the first looks.

    Raises:
        RunError: if the file is damaged.
    """
    return world.json_from_first(lambda: _progress(folder / PROGRESS))


def load_optimizer(folder: Path, optimizer: torch.optim.Optimizer, world: World = SINGLE) -> None:
    """Put an optimiser's saved moments back; its groups must hold the same parameters in the same order. Of several
    processes the first reads them for all.

    Raises:
        RunError: if they are missing or damaged.
    """
    state = optimizer.state_dict()
    state["state"] = {}
    for name, tensor in world.tensors_from_first(lambda: _tensors(folder / OPTIMIZER)).items():
        number, key = name.split(".", 1)
        state["state"].setdefault(int(number), {})[key] = tensor
    optimizer.load_state_dict(state)


def _progress(path: Path) -> dict | None:
    try:
        return read_json(path) if path.is_file() else None
    except (OSError, ValueError) as error:
        raise _not_readable(path, error) from None


def _tensors(path: Path) -> dict[str, torch.Tensor]:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise _not_readable(path, error) from None


def _not_readable(path: Path, error: Exception) -> RunError:
    return RunError(f"{path}: not readable ({error}); train again without --resume")


def _moments(optimizer: torch.optim.Optimizer) -> dict[str, torch.Tensor]:
    return {
        f"{number}.{key}": tensor
        for number, moments in optimizer.state_dict()["state"].items()
        for key, tensor in moments.items()
    }


def _detached(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
