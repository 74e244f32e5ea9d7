"""QABISAR's attention layer over typed edges."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.gnn.bag_attention import runs_here
from statgraph.gnn.message_passing import (
    attend,
    by_head,
    edge_softmax,
    head_width_of,
    identity_projection,
    leaky_scalars,
)
from statgraph.gnn.separable_attention import separable_attention
from statgraph.graph.blocks import Block


class QabisarLayer(nn.Module):
    """Multi-head attention with edge-type embeddings (QABISAR, section 2.2, equations 1 and 2).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( a . LeakyReLU([Ws x_i || Wt x_j || We e_ij]) )
        out_i = alpha_ii Ws x_i + sum_j alpha_ij Wt x_j

    and the heads are concatenated. LeakyReLU works on each component, so the logit is the sum of three scalars: one of
    the target, one of the source, one of the edge type. No tensor of (edges, 3 width) is formed, and the target's
    scalar, being the same for every j, cancels in the softmax: it is not computed and has no parameter here. Ws and Wt
    start as the identity, so that an untrained layer averages a node's neighbourhood.

    Args:
        width: components of a node vector, in and out.
        n_heads: heads; must divide the width.
        n_edge_types: relations of the graph, reverses included; the node itself gets one type more.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int):
        super().__init__()
        self.n_heads = n_heads
        self.head_width = head_width_of(width, n_heads)
        self.target_projection = identity_projection(width)
        self.source_projection = identity_projection(width)
        self.edge_projection = nn.Linear(width, width, bias=False)
        self.edge_embeddings = nn.Embedding(n_edge_types + 1, width)
        self.source_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.edge_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.bias = nn.Parameter(torch.zeros(width))
        for parameter in (self.edge_projection.weight, self.source_attention, self.edge_attention):
            nn.init.xavier_uniform_(parameter)

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        type_logits = self._type_logits()
        if runs_here(nodes, block):
            return separable_attention(
                nodes,
                block,
                source_weight=self.source_projection.weight,
                target_weight=self.target_projection.weight,
                source_attention=self.source_attention,
                type_logits=type_logits,
                bias=self.bias,
            )
        return self._by_operations(nodes, block, type_logits)

    def attention_weights(self, nodes: torch.Tensor, block: Block) -> tuple[torch.Tensor, torch.Tensor]:
        """Return (edge weights (edges, heads), own weights (outputs, heads)): alpha_ij of each edge and alpha_ii."""
        sources = by_head(self.source_projection(nodes), self.n_heads)
        return edge_softmax(*self._logits(sources, block, self._type_logits()), block.targets)

    def _by_operations(self, nodes: torch.Tensor, block: Block, type_logits: torch.Tensor) -> torch.Tensor:
        """Return the same as `forward`, by operations that run on any device and at any precision."""
        sources = by_head(self.source_projection(nodes), self.n_heads)  # (inputs, heads, head width)
        own = by_head(self.target_projection(block.own(nodes)), self.n_heads)  # (outputs, heads, head width)
        edge_logits, own_logits = self._logits(sources, block, type_logits)
        return attend(edge_logits, own_logits, sources[block.sources], own, block.targets) + self.bias

    def _type_logits(self) -> torch.Tensor:
        """Return the logit of each edge type and of the node itself, (edge types + 1, heads)."""
        types = by_head(self.edge_projection(self.edge_embeddings.weight), self.n_heads)
        return leaky_scalars(types, self.edge_attention)

    def _logits(
        self, sources: torch.Tensor, block: Block, type_logits: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the logits of the edges (edges, heads) and of the nodes themselves (outputs, heads)."""
        source_logits = leaky_scalars(sources, self.source_attention)  # (inputs, heads)
        return (
            source_logits[block.sources] + type_logits[block.edge_types],
            block.own(source_logits) + type_logits[-1],
        )
