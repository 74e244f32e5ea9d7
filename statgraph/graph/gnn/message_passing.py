"""What the layers share: projections that start as the identity, sums over neighbours, attention by heads.

A layer is made from the `width` of a node vector, the number of heads `n_heads`, `n_edge_types`, the number of
relations of the graph, reverses included, and `out_width`, the width of what comes out where that is another.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from statgraph.errors import UsageError
from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.bag_attention import NEGATIVE_SLOPE, runs_here


def identity_projection(width: int, out_width: int | None = None, *, scale: float = 1.0) -> nn.Linear:
    """Return a linear map without bias, (n, width) to (n, out width), that starts as `scale` times the identity: where
    the widths differ, it keeps the first components and adds zeros."""
    projection = nn.Linear(width, out_width or width, bias=False)
    nn.init.eye_(projection.weight)
    projection.weight.data.mul_(scale)
    return projection


def neighbour_sum(nodes: torch.Tensor, block: Block) -> torch.Tensor:
    """Return the sum of each output node's neighbours (outputs, width) from the input nodes' vectors (inputs, width).

    A neighbour counts once an edge. A node without edges has the sum zero.
    """
    return nodes.new_zeros(block.n_outputs, nodes.shape[1]).index_add(0, block.targets, nodes[block.sources])


def edges_at(ends: torch.Tensor, n_nodes: int) -> torch.Tensor:
    """Return how many edges each node has, (nodes,) int64, from the node that each edge has at one end, (edges,).

    `torch.bincount` would look at the values first, and wait for a GPU to give them.
    """
    return ends.new_zeros(n_nodes).index_add_(0, ends, torch.ones_like(ends))


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


def head_width_of(width: int, n_heads: int) -> int:
    """Return the components that each head gets of a vector.

    Raises:
        UsageError: if the heads do not divide the width.
    """
    if width % n_heads:
        raise UsageError(f"gnn.heads: must divide the width {width} (got {n_heads})")
    return width // n_heads


def by_head(vectors: torch.Tensor, n_heads: int) -> torch.Tensor:
    """Return (vectors, heads, head width) from (vectors, width)."""
    return vectors.view(len(vectors), n_heads, vectors.shape[1] // n_heads)


def leaky_scalars(vectors: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Return a . LeakyReLU(v) for each vector and head: (vectors, heads) from (vectors, heads, head width)."""
    return (functional.leaky_relu(vectors, NEGATIVE_SLOPE) * attention).sum(dim=-1)


class AttentionLayer(nn.Module):  # type: ignore[misc]
    """A mean over the neighbours of a node and the node itself, weighed by attention, heads side by side.

    A subclass gives `_logits_and_values`, and `_in_one_step` where it has a faster way on a CPU.
    """

    bias: nn.Parameter

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
        in_one_step = self._in_one_step(nodes, block) if runs_here(nodes, block) else None
        if in_one_step is not None:
            return in_one_step
        edge_logits, own_logits, edge_values, own_values = self._logits_and_values(nodes, block)
        edge_weights, own_weights = edge_softmax(edge_logits, own_logits, block.targets)
        messages = edge_values * edge_weights.unsqueeze(-1)  # (edges, heads, head width)
        mean = (own_values * own_weights.unsqueeze(-1)).index_add(0, block.targets, messages)
        return mean.flatten(1) + self.bias

    def attention_weights(self, nodes: torch.Tensor, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (edge weights (edges, heads), own weights (outputs, heads)): alpha_ij of each edge and alpha_ii."""
        edge_logits, own_logits, _, _ = self._logits_and_values(nodes, block)
        return edge_softmax(edge_logits, own_logits, block.targets)

    def _logits_and_values(
        self, nodes: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the logits of the edges (edges, heads) and of the nodes themselves (outputs, heads), then the values
        of both, (edges, heads, head width) and (outputs, heads, head width)."""
        raise NotImplementedError

    def _in_one_step(self, nodes: torch.Tensor, block: Block) -> torch.Tensor | None:
        """Return what `forward` does by a faster way; None where the layer has none."""
        return None
