"""Linear maps of node vectors that training starts from the identity."""

from __future__ import annotations

from torch import nn


def identity_projection(width: int, *, scale: float = 1.0) -> nn.Linear:
    """Return a linear map without bias, (n, width) to (n, width), that starts as `scale` times the identity."""
    projection = nn.Linear(width, width, bias=False)
    nn.init.eye_(projection.weight)
    projection.weight.data.mul_(scale)
    return projection
