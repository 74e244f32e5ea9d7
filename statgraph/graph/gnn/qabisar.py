"""QABISAR's layer: static attention over typed edges."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.separable_attention import separable_attention
from statgraph.graph.gnn.message_passing import (
    AttentionLayer,
    by_head,
    head_width_of,
    identity_projection,
    leaky_scalars,
)


class QabisarLayer(AttentionLayer):
    """Multi-head attention with edge-type embeddings (QABISAR, section 2.2, equations 1 and 2).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( a . LeakyReLU([Ws x_i || Wt x_j || We e_ij]) )
        out_i = alpha_ii Ws x_i + sum_j alpha_ij Wt x_j

    and the heads are concatenated. LeakyReLU works on each component, so the logit is the sum of three scalars: one of
    the target, one of the source, one of the edge type. No tensor of (edges, 3 width) is formed, and the target's
    scalar, being the same for every j, cancels in the softmax: it is not computed and has no parameter here. Ws and Wt
    start as the identity, so that an untrained layer averages a node's neighbourhood. The node itself has an edge type
    of its own, the last.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        out_width = out_width or width
        self.n_heads = n_heads
        self.head_width = head_width_of(out_width, n_heads)
        self.target_projection = identity_projection(width, out_width)
        self.source_projection = identity_projection(width, out_width)
        self.edge_projection = nn.Linear(width, out_width, bias=False)
        self.edge_embeddings = nn.Embedding(n_edge_types + 1, width)
        self.source_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.edge_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.bias = nn.Parameter(torch.zeros(out_width))
        for parameter in (self.edge_projection.weight, self.source_attention, self.edge_attention):
            nn.init.xavier_uniform_(parameter)

    def _in_one_step(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        return separable_attention(
            nodes,
            block,
            source_weight=self.source_projection.weight,
            target_weight=self.target_projection.weight,
            source_attention=self.source_attention,
            type_logits=self._type_logits(),
            bias=self.bias,
        )

    def _logits_and_values(
        self, nodes: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        type_logits = self._type_logits()
        sources = by_head(self.source_projection(nodes), self.n_heads)  # (inputs, heads, head width)
        own = by_head(self.target_projection(block.own(nodes)), self.n_heads)  # (outputs, heads, head width)
        source_logits = leaky_scalars(sources, self.source_attention)  # (inputs, heads)
        edge_logits = source_logits[block.sources] + type_logits[block.edge_types]
        return edge_logits, block.own(source_logits) + type_logits[-1], sources[block.sources], own

    def _type_logits(self) -> torch.Tensor:
        """Return the logit of each edge type and of the node itself, (edge types + 1, heads)."""
        types = by_head(self.edge_projection(self.edge_embeddings.weight), self.n_heads)
        return leaky_scalars(types, self.edge_attention)
