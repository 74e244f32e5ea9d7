"""Training state on disk: checkpoints (weights, optimiser moments, how far a stage has come) and the log of epochs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from statgraph.artifacts import read_object, read_tensors, replaced_folder, write_json, write_tensors, write_text
from statgraph.distributed import current_world
from statgraph.errors import damaged_run, option
from statgraph.training.steps import OptimizerSteps

WEIGHTS = "weights.safetensors"
OPTIMIZER = "optimizer.safetensors"
PROGRESS = "progress.json"
_SCALING = "scaling"  # of the loss, beside the progress
_REMEDY = f"train again without {option('resume')}"


def save_checkpoint(
    folder: Path,
    weights: Mapping[str, torch.Tensor],
    progress: Mapping[str, object],
    steps: OptimizerSteps | None = None,
) -> None:
    """Write a checkpoint folder, whole or not at all; with the optimiser's moments where it is to go on."""
    with replaced_folder(folder) as staging:
        write_tensors(staging / WEIGHTS, weights)
        if steps is not None:
            state = steps.optimizer.state_dict()["state"]
            moments = {f"{number}.{key}": tensor for number, of in state.items() for key, tensor in of.items()}
            write_tensors(staging / OPTIMIZER, moments)
            progress = {**progress, **({_SCALING: scaling} if (scaling := steps.state()) else {})}
        write_json(staging / PROGRESS, progress)


def load_weights(folder: Path) -> Mapping[str, torch.Tensor]:
    """Return the weights of a checkpoint by name; of several processes the first reads them for all.

    Raises:
        RunError: if they are missing or damaged.
    """
    return current_world().tensors_from_first(lambda: read_tensors(folder / WEIGHTS, remedy=_REMEDY))


def load_progress(folder: Path) -> dict[str, Any] | None:
    """Return the progress of the stage, or None if there is no checkpoint; of several processes the first looks.

    Raises:
        RunError: if the file is damaged.
    """
    path = folder / PROGRESS
    return current_world().json_from_first(lambda: read_object(path, remedy=_REMEDY) if path.is_file() else None)


def load_steps(folder: Path, steps: OptimizerSteps) -> None:
    """Put an optimiser's saved moments and the scale of its loss back; its groups must hold the same parameters in the
    same order. Of several processes the first reads them for all.

    Raises:
        RunError: if they are missing or damaged.
    """
    state = steps.optimizer.state_dict()
    state["state"] = {}
    moments = current_world().tensors_from_first(lambda: read_tensors(folder / OPTIMIZER, remedy=_REMEDY))
    for name, tensor in moments.items():
        number, key = name.split(".", 1)
        state["state"].setdefault(int(number), {})[key] = tensor
    steps.optimizer.load_state_dict(state)
    steps.load_state((load_progress(folder) or {}).get(_SCALING, {}))


class MetricsLog:
    """The log of a run, one JSON line for each epoch of each stage, with the loss of each step in `step_losses`; a
    resumed stage first takes back the lines past its checkpoint."""

    def __init__(self, path: Path):
        self._path = Path(path)

    def append(self, **record: object) -> None:
        """Add one line."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")

    def records(self) -> list[dict[str, Any]]:
        """Return all lines, in order: each has `stage` (a string), `epoch` (a whole number), and numbers or None beside
        them. A last line cut short by a kill is left out.

        Raises:
            RunError: if another line is damaged.
        """
        if not self._path.is_file():
            return []
        records: list[dict[str, Any]] = []
        lines = self._path.read_bytes().splitlines()
        for number, line in enumerate(lines, start=1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                if number == len(lines):
                    break
                record = None
            if not _is_record(record):
                raise damaged_run(f"{self._path}:{number}: not the record of an epoch")
            records.append(record)
        return records

    def take_back(self, stage: str, after_epoch: int) -> None:
        """Remove the lines of a stage past an epoch."""
        kept = [record for record in self.records() if record["stage"] != stage or record["epoch"] <= after_epoch]
        write_text(self._path, "".join(json.dumps(record) + "\n" for record in kept))


def _is_record(record: object) -> bool:
    """Return whether a value is what `append` writes for an epoch."""
    if not isinstance(record, dict) or "loss" not in record or not isinstance(record.get("epoch"), int):
        return False
    losses = record.get("step_losses", [])
    others = [value for name, value in record.items() if name not in ("stage", "step_losses") and value is not None]
    return (
        isinstance(record.get("stage"), str)
        and isinstance(losses, list)
        and all(isinstance(value, int | float) for value in [*others, *losses])
    )
