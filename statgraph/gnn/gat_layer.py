"""GAT: attention whose logit is a sum of one scalar of the target and one of the source."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from statgraph.gnn.message_passing import (
    NEGATIVE_SLOPE,
    attend,
    by_head,
    edge_softmax,
    head_width_of,
    identity_projection,
)
from statgraph.graph.blocks import Block


class GatLayer(nn.Module):
    """Static attention (Velickovic et al. 2018, "Graph attention networks", equations 3 and 5).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( LeakyReLU(at . W x_i + as . W x_j) )
        out_i = sum_j alpha_ij W x_j

    and the heads are concatenated. The nonlinearity that the paper puts behind a layer is left out: `GraphEncoder` adds
    the output to its input. Edge types are not looked at. W starts as the identity, so that an untrained layer averages
    a node's neighbourhood.

    Args:
        width: components of a node vector, in and out.
        n_heads: heads; must divide the width.
        n_edge_types: not used.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int):
        super().__init__()
        head_width = head_width_of(width, n_heads)
        self.n_heads = n_heads
        self.projection = identity_projection(width)
        self.target_attention = nn.Parameter(torch.empty(n_heads, head_width))
        self.source_attention = nn.Parameter(torch.empty(n_heads, head_width))
        self.bias = nn.Parameter(torch.zeros(width))
        for parameter in (self.target_attention, self.source_attention):
            nn.init.xavier_uniform_(parameter)

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        values = by_head(self.projection(nodes), self.n_heads)  # (inputs, heads, head width)
        own_values = block.own(values)  # (outputs, heads, head width)
        edge_logits, own_logits = self._logits(values, own_values, block)
        return attend(edge_logits, own_logits, values[block.sources], own_values, block.targets) + self.bias

    def attention_weights(self, nodes: torch.Tensor, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (edge weights (edges, heads), own weights (outputs, heads)): alpha_ij of each edge and alpha_ii."""
        values = by_head(self.projection(nodes), self.n_heads)
        return edge_softmax(*self._logits(values, block.own(values), block), block.targets)

    def _logits(
        self, values: torch.Tensor, own_values: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the edges (edges, heads) and of the nodes themselves (outputs, heads)."""
        source_scalars = (values * self.source_attention).sum(dim=-1)  # (inputs, heads)
        target_scalars = (own_values * self.target_attention).sum(dim=-1)  # (outputs, heads)
        return (
            functional.leaky_relu(target_scalars[block.targets] + source_scalars[block.sources], NEGATIVE_SLOPE),
            functional.leaky_relu(target_scalars + block.own(source_scalars), NEGATIVE_SLOPE),
        )
