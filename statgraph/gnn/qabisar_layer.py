"""QABISAR's attention layer over typed edges."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from statgraph.errors import UsageError
from statgraph.gnn.edge_softmax import edge_softmax
from statgraph.graph.blocks import Block

_NEGATIVE_SLOPE = 0.2


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
        if n_heads < 1 or width % n_heads:
            raise UsageError(f"gnn.heads: {n_heads} heads do not divide the width {width}; use a divisor of it")
        self.n_heads = n_heads
        self.head_width = width // n_heads
        self.target_projection = nn.Linear(width, width, bias=False)
        self.source_projection = nn.Linear(width, width, bias=False)
        self.edge_projection = nn.Linear(width, width, bias=False)
        self.edge_embeddings = nn.Embedding(n_edge_types + 1, width)
        self.source_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.edge_attention = nn.Parameter(torch.empty(n_heads, self.head_width))
        self.bias = nn.Parameter(torch.zeros(width))
        for parameter in (self.edge_projection.weight, self.source_attention, self.edge_attention):
            nn.init.xavier_uniform_(parameter)
        for projection in (self.target_projection, self.source_projection):
            nn.init.eye_(projection.weight)

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        sources = self._by_head(self.source_projection(nodes))  # (inputs, heads, head width)
        own = self._by_head(self.target_projection(nodes[block.own_inputs]))  # (outputs, heads, head width)
        source_logits = _scalars(sources, self.source_attention)  # (inputs, heads)
        type_logits = _scalars(
            self._by_head(self.edge_projection(self.edge_embeddings.weight)), self.edge_attention
        )  # (edge types + 1, heads)
        edge_weights, own_weights = edge_softmax(
            source_logits[block.sources] + type_logits[block.edge_types],
            source_logits[block.own_inputs] + type_logits[-1],
            block.targets,
        )
        messages = sources[block.sources] * edge_weights.unsqueeze(-1)  # (edges, heads, head width)
        out = (own * own_weights.unsqueeze(-1)).index_add(0, block.targets, messages)
        return out.flatten(1) + self.bias

    def _by_head(self, vectors: torch.Tensor) -> torch.Tensor:
        return vectors.view(len(vectors), self.n_heads, self.head_width)


def _scalars(vectors: torch.Tensor, attention: torch.Tensor) -> torch.Tensor:
    """Return a . LeakyReLU(v) for each vector and head: (vectors, heads) from (vectors, heads, head width)."""
    return (functional.leaky_relu(vectors, _NEGATIVE_SLOPE) * attention).sum(dim=-1)
