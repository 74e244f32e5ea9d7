"""Dropout on a CPU at a fraction of its price: torch draws a mask one random number a place, one after the other, which
can take longer than the layer that it follows."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

_DRAWS = 2**16  # the values of 16 random bits
_LANES = 4  # places that a random number of 64 bits decides


def dropout(values: torch.Tensor, share: float, training: bool = True) -> torch.Tensor:
    """Return values with a share of them left out by chance and the others scaled up, so that their mean stays; torch's
    own where nothing or all is left out, outside training, and on other devices.

    Masks come from torch's generator, so that a seed decides them.
    """
    if not training or not 0 < share < 1 or values.device.type != "cpu":
        return functional.dropout(values, share, training)
    mask, factor = kept(values.shape, share, values.dtype)
    return values * mask * factor


def kept(shape: torch.Size, share: float, dtype: torch.dtype) -> tuple[torch.Tensor, float]:
    """Return (mask, factor): 1 for the places that stay and 0 for those left out, and what they are multiplied by. The
    share, below 1, is met to a multiple of 2**-16."""
    count = math.prod(shape)
    below = min(round(share * _DRAWS), _DRAWS - 1)
    # The whole range, since each of the 64 bits is used.
    numbers = torch.empty(-(-count // _LANES), dtype=torch.int64).random_(-(2**63), None)
    bits = numbers.view(torch.int16)[:count].view(shape)
    # In the type that it is multiplied with: a mask of booleans takes several times as long.
    return torch.ge(bits, below - _DRAWS // 2, out=torch.empty(shape, dtype=dtype)), _DRAWS / (_DRAWS - below)
