"""GAT: static attention over edges without types."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.bag_attention import NEGATIVE_SLOPE
from statgraph.graph.gnn.message_passing import (
    AttentionLayer,
    by_head,
    head_width_of,
    identity_projection,
)


class GatLayer(AttentionLayer):
    """Static attention (Velickovic et al. 2018, "Graph attention networks", equations 3 and 5).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( LeakyReLU(at . W x_i + as . W x_j) )
        out_i = sum_j alpha_ij W x_j

    and the heads are concatenated. Edge types are not used. W starts as the identity, so that an untrained layer
    averages a node's neighbourhood.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        out_width = out_width or width
        head_width = head_width_of(out_width, n_heads)
        self.n_heads = n_heads
        self.projection = identity_projection(width, out_width)
        self.target_attention = nn.Parameter(torch.empty(n_heads, head_width))
        self.source_attention = nn.Parameter(torch.empty(n_heads, head_width))
        self.bias = nn.Parameter(torch.zeros(out_width))
        for parameter in (self.target_attention, self.source_attention):
            nn.init.xavier_uniform_(parameter)

    def _logits_and_values(
        self, nodes: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        values = by_head(self.projection(nodes), self.n_heads)  # (inputs, heads, head width)
        own_values = block.own(values)  # (outputs, heads, head width)
        source_scalars = (values * self.source_attention).sum(dim=-1)  # (inputs, heads)
        target_scalars = (own_values * self.target_attention).sum(dim=-1)  # (outputs, heads)
        edge_scalars = target_scalars[block.targets] + source_scalars[block.sources]
        own_scalars = target_scalars + block.own(source_scalars)
        edge_logits, own_logits = (
            functional.leaky_relu(scalars, NEGATIVE_SLOPE) for scalars in (edge_scalars, own_scalars)
        )
        return edge_logits, own_logits, values[block.sources], own_values
