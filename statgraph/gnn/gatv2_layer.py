"""GATv2: attention whose ranking of the neighbours depends on the node that looks."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.gnn.bag_attention import runs_here
from statgraph.gnn.dynamic_attention import dynamic_attention
from statgraph.gnn.message_passing import (
    attend,
    by_head,
    edge_softmax,
    head_width_of,
    identity_projection,
    leaky_scalars,
)
from statgraph.graph.blocks import Block


class GatV2Layer(nn.Module):
    """Dynamic attention (Brody, Alon and Yahav 2022, "How attentive are graph attention networks?", equation 7).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( a . LeakyReLU(Ws x_i + Wt x_j) )
        out_i = sum_j alpha_ij Wt x_j

    and the heads are concatenated. LeakyReLU works on the sum of both sides, so the logit does not fall into a part of
    the target and a part of the source: vectors of edges are formed, on a CPU a thousand at a time. Edge types are not
    looked at, as in G-DSR, whose tree has none. Ws and Wt start as the identity, so that an untrained layer averages a
    node's neighbourhood.

    Args:
        width: components of a node vector, in and out.
        n_heads: heads; must divide the width.
        n_edge_types: not used.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int):
        super().__init__()
        self.n_heads = n_heads
        self.target_projection = identity_projection(width)
        self.source_projection = identity_projection(width)
        self.attention = nn.Parameter(torch.empty(n_heads, head_width_of(width, n_heads)))
        self.bias = nn.Parameter(torch.zeros(width))
        nn.init.xavier_uniform_(self.attention)

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        if runs_here(nodes, block):
            return dynamic_attention(
                nodes,
                block,
                source_weight=self.source_projection.weight,
                target_weight=self.target_projection.weight,
                attention=self.attention,
                bias=self.bias,
            )
        return self._by_operations(nodes, block)

    def attention_weights(self, nodes: torch.Tensor, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (edge weights (edges, heads), own weights (outputs, heads)): alpha_ij of each edge and alpha_ii."""
        edge_values, own_values = self._values(nodes, block)
        return edge_softmax(*self._logits(nodes, block, edge_values, own_values), block.targets)

    def _by_operations(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the same as `forward`, by operations that run on any device and at any precision."""
        edge_values, own_values = self._values(nodes, block)
        edge_logits, own_logits = self._logits(nodes, block, edge_values, own_values)
        return attend(edge_logits, own_logits, edge_values, own_values, block.targets) + self.bias

    def _values(self, nodes: torch.Tensor, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """Return what each edge (edges, heads, head width) and each node itself (outputs, heads, head width) gives."""
        sources = by_head(self.source_projection(nodes), self.n_heads)  # (inputs, heads, head width)
        return sources[block.sources], block.own(sources)

    def _logits(
        self, nodes: torch.Tensor, block: Block, edge_values: torch.Tensor, own_values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the edges (edges, heads) and of the nodes themselves (outputs, heads)."""
        targets = by_head(self.target_projection(block.own(nodes)), self.n_heads)  # (outputs, heads, head width)
        return (
            leaky_scalars(targets[block.targets] + edge_values, self.attention),
            leaky_scalars(targets + own_values, self.attention),
        )
