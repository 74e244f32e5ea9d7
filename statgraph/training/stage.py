"""What a stage of training gives the loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch


@dataclass(frozen=True)
class Schedule:
    """How long and how fast a stage trains. `warmup` is a share of all steps; `patience` counts epochs, 0 for none."""

    epochs: int
    warmup: float
    weight_decay: float
    patience: int


class Stage(Protocol):
    """One stage: its parameters, its batches, its loss and its score on the dev split."""

    name: str
    steps_per_epoch: int
    uses_graph: bool

    def parameter_groups(self) -> list[dict]:
        """Return the optimiser's groups, each with its own `lr`."""

    def weights(self) -> Mapping[str, torch.Tensor]:
        """Return what the stage trains, by name."""

    def load_weights(self, weights: Mapping[str, torch.Tensor]) -> None:
        """Put back what `weights` returned."""

    def set_training(self, on: bool) -> None:
        """Switch dropout and the like on or off."""

    def begin_epoch(self, epoch: int, epochs: int) -> None:
        """Make ready for an epoch (from 1) of so many, with the weights as they stand."""

    def batches(self, rng: np.random.Generator) -> Iterator[object]:
        """Yield the batches of one epoch, drawn with `rng`."""

    def loss(self, batch: object) -> torch.Tensor:
        """Return a batch's loss, a scalar with gradients."""

    def dev_metrics(self) -> dict[str, float] | None:
        """Return the metrics on the dev split as it stands, or None where the corpus has no dev questions."""
