"""Steps of an optimiser in the precision that a device trains in, the loss scaled where that is float16."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn

from statgraph.device import training_dtype
from statgraph.errors import RunError
from statgraph.training.seeding import reproducible_sums

_LEAST_SCALE = 2.0**-14


class OptimizerSteps:
    """Takes steps: loss, gradients, clipping, the optimiser's update.

    In float16 the loss is multiplied by a scale, so that small gradients do not vanish. A step whose gradients are not
    finite changes nothing and halves the scale; after 2,000 that are, it doubles (Micikevicius et al. 2018, by torch's
    GradScaler).

    Args:
        optimizer: what updates the parameters.
        parameters: those that `clip` counts together.
        device: where the loss is computed.
        clip: the longest gradient over all parameters; 0 for any length.
    """

    def __init__(
        self,
        optimizer: torch.optim.Optimizer,
        parameters: Sequence[nn.Parameter],
        device: torch.device,
        *,
        clip: float = 0.0,
    ):
        self.optimizer = optimizer
        self._parameters = parameters
        self._device = device
        self._clip = clip
        self._dtype = training_dtype(device)
        self._scaler = torch.amp.GradScaler(device.type, enabled=self._dtype == torch.float16)

    def take(self, loss_of: Callable[[], torch.Tensor]) -> float:
        """Return the loss, a finite scalar or not, after a step of the optimiser.

        Raises:
            RunError: if no scale is small enough for the gradients.
        """
        scaler, device = self._scaler, self._device
        self.optimizer.zero_grad(set_to_none=True)
        with reproducible_sums(device):
            with torch.autocast(device.type, dtype=self._dtype, enabled=self._dtype != torch.float32):
                loss = loss_of()
            scaler.scale(loss).backward()
        if self._clip:
            scaler.unscale_(self.optimizer)
            torch.nn.utils.clip_grad_norm_(self._parameters, self._clip)
        scaler.step(self.optimizer)
        scaler.update()
        if scaler.is_enabled() and scaler.get_scale() < _LEAST_SCALE:
            raise RunError("gradients are not finite at any scale of the loss; lower the learning rate")
        return float(loss.detach())

    def state(self) -> dict[str, float]:
        """Return the scale of the loss and what decides the next, JSON values; nothing where none is scaled."""
        state: dict[str, float] = self._scaler.state_dict()
        return state

    def load_state(self, state: Mapping[str, float]) -> None:
        """Put back what `state` returned; a state without a scale, as another device's, leaves the first one."""
        if state and self._scaler.is_enabled():
            self._scaler.load_state_dict(dict(state))
