"""Softmax over the edges that end in a node, the node itself among them."""

from __future__ import annotations

import torch


def edge_softmax(
    edge_logits: torch.Tensor, own_logits: torch.Tensor, targets: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (edge weights, own weights) that sum to one over each node's incoming edges and itself.

    Args:
        edge_logits: (edges, heads).
        own_logits: (nodes, heads), the node's logit for itself.
        targets: (edges,) int64, the node each edge ends in.

    Returns:
        (edges, heads) and (nodes, heads). A node without edges has the own weight 1.
    """
    index = targets.unsqueeze(1).expand_as(edge_logits)
    # The maximum only keeps exp() in range, so no gradient goes through it.
    peak = own_logits.detach().scatter_reduce(0, index, edge_logits.detach(), "amax")  # (nodes, heads)
    edge_weights = torch.exp(edge_logits - peak[targets])
    own_weights = torch.exp(own_logits - peak)
    total = own_weights.index_add(0, targets, edge_weights)
    return edge_weights / total[targets], own_weights / total
