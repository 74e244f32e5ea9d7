"""Dynamic attention: GATv2, and the same over typed edges."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.kernels.dynamic_attention import dynamic_attention
from statgraph.graph.gnn.message_passing import (
    AttentionLayer,
    by_head,
    head_width_of,
    identity_projection,
    leaky_scalars,
)


class GatV2Layer(AttentionLayer):
    """Dynamic attention (Brody, Alon and Yahav 2022, "How attentive are graph attention networks?", equation 7).

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( a . LeakyReLU(Ws x_i + Wt x_j) )
        out_i = sum_j alpha_ij Wt x_j

    and the heads are concatenated: whom a node prefers depends on the node. LeakyReLU works on the sum of both sides,
    so the logit does not fall into a part of the target and a part of the source: vectors of edges are formed, on a CPU
    a thousand at a time. Edge types are not used, as in G-DSR, whose tree has none. Ws and Wt start as the identity, so
    that an untrained layer averages a node's neighbourhood.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        out_width = out_width or width
        self.n_heads = n_heads
        self.target_projection = identity_projection(width, out_width)
        self.source_projection = identity_projection(width, out_width)
        self.attention = nn.Parameter(torch.empty(n_heads, head_width_of(out_width, n_heads)))
        self.bias = nn.Parameter(torch.zeros(out_width))
        nn.init.xavier_uniform_(self.attention)

    def _in_one_step(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        return dynamic_attention(
            nodes,
            block,
            source_weight=self.source_projection.weight,
            target_weight=self.target_projection.weight,
            attention=self.attention,
            bias=self.bias,
            types=self._types(),
        )

    def _logits_and_values(
        self, nodes: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        sources = by_head(self.source_projection(nodes), self.n_heads)  # (inputs, heads, head width)
        edge_values, own_values = sources[block.sources], block.own(sources)
        targets = by_head(self.target_projection(block.own(nodes)), self.n_heads)  # (outputs, heads, head width)
        edge_sums, own_sums = targets[block.targets] + edge_values, targets + own_values
        if (types := self._types()) is not None:
            by_type = by_head(types, self.n_heads)
            edge_sums, own_sums = edge_sums + by_type[block.edge_types], own_sums + by_type[-1]
        logits = (leaky_scalars(sums, self.attention) for sums in (edge_sums, own_sums))
        return *logits, edge_values, own_values

    def _types(self) -> torch.Tensor | None:
        """Return the vectors of the edge types and of the node itself, (edge types + 1, out width), or None."""
        return None


class QabisarV2Layer(GatV2Layer):
    """Dynamic attention over typed edges: what QABISAR cites GATv2 for, where its printed formula is static.

    For node i and each head, with j over the neighbours of i and i itself:

        alpha_ij = softmax_j( a . LeakyReLU(Ws x_i + Wt x_j + We e_ij) )
        out_i = sum_j alpha_ij Wt x_j

    and the heads are concatenated: `GatV2Layer` with the edge's type in the sum, as Brody, Alon and Yahav (2022) give
    edges their features. We is folded into the embeddings, which start at zero, so that an untrained layer is an
    untrained `GatV2Layer`. The node itself has an edge type of its own, the last.

    Raises:
        UsageError: if the heads do not divide the width.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__(width, n_heads=n_heads, n_edge_types=n_edge_types, out_width=out_width)
        self.edge_embeddings = nn.Parameter(torch.zeros(n_edge_types + 1, out_width or width))

    def _types(self) -> torch.Tensor | None:
        return self.edge_embeddings
