"""Dynamic attention: GATv2, and the same over typed edges."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.gnn.kernels import edge_logits, leaky_scalars
from statgraph.gnn.message_passing import AttentionLayer, by_head, head_width_of, identity_projection
from statgraph.graph.blocks import Block


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

    def _logits_and_values(
        self, nodes: torch.Tensor, block: Block
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
        sources = by_head(self.source_projection(nodes), self.n_heads)  # (inputs, heads, head width)
        targets = by_head(self.target_projection(block.own(nodes)), self.n_heads)  # (outputs, heads, head width)
        types = None if self._types() is None else by_head(self._types(), self.n_heads)
        own_values = block.own(sources)
        own_sums = targets + own_values if types is None else targets + own_values + types[-1]
        logits = edge_logits(sources, targets, types, self.attention, block)
        return logits, leaky_scalars(own_sums, self.attention), sources, own_values

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
