"""Dropout whose mask costs a CPU less than the layer that it follows."""

from __future__ import annotations

import torch
from torch.nn import functional

_STEPS = 2**16  # chances are whole numbers of these
_LANES = 4  # masks' components in a random number of 64 bits


def dropout(vectors: torch.Tensor, chance: float, training: bool) -> torch.Tensor:
    """Return the vectors with components left out by chance and the others scaled up, so that their mean stays.

    torch's own draws one random number a component, one after the other; here a number serves four. A chance is met to
    1/65,536. On other devices, outside training, and where nothing is left out, it is torch's.
    """
    if not training or not chance or vectors.device.type != "cpu":
        return functional.dropout(vectors, chance, training)
    n_components = vectors.numel()
    drawn = torch.empty(-(-n_components // _LANES), dtype=torch.int64).random_(-(2**63), None)
    steps = min(round(chance * _STEPS), _STEPS - 1)
    kept = drawn.view(torch.int16)[:n_components].view(vectors.shape) >= steps - _STEPS // 2
    return vectors * kept.to(vectors.dtype).mul_(_STEPS / (_STEPS - steps))
