"""What the attention layers share: vectors cut into heads, and the sum over a neighbourhood that attention weighs."""

from __future__ import annotations

import torch
from torch.nn import functional

from statgraph.errors import UsageError
from statgraph.gnn.edge_softmax import edge_softmax

NEGATIVE_SLOPE = 0.2


def head_width_of(width: int, n_heads: int) -> int:
    """Return the components that each head gets of a vector.

    Raises:
        UsageError: if the heads do not divide the width.
    """
    if n_heads < 1 or width % n_heads:
        raise UsageError(f"gnn.heads: must divide the width {width} (got {n_heads})")
    return width // n_heads


def by_head(vectors: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Return (vectors, heads, head width) from (vectors, width)."""
    return vectors.view(len(vectors), n_heads, vectors.shape[1] // n_heads)


def leaky_scalars(vectors: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Return a . LeakyReLU(v) for each vector and head: (vectors, heads) from (vectors, heads, head width)."""
    return (functional.leaky_relu(vectors, NEGATIVE_SLOPE) * attention).sum(dim=-1)


def attend(
    edge_logits: torch.Tensor,
    own_logits: torch.Tensor,
    edge_values: torch.Tensor,
    own_values: torch.Tensor,
    targets: torch.Tensor,
) -> torch.Tensor:
    """Return each output node's mean of its edges' values and its own, weighed by attention, heads side by side.

    Args:
        edge_logits: (edges, heads).
        own_logits: (outputs, heads), the node's logit for itself.
        edge_values: (edges, heads, head width).
        own_values: (outputs, heads, head width).
        targets: (edges,) int64, the output node each edge ends in.

    Returns:
        (outputs, width).
    """
    edge_weights, own_weights = edge_softmax(edge_logits, own_logits, targets)
    messages = edge_values * edge_weights.unsqueeze(-1)  # (edges, heads, head width)
    return (own_values * own_weights.unsqueeze(-1)).index_add(0, targets, messages).flatten(1)
