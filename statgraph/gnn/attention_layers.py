"""The layers with attention: QABISAR's over typed edges, GATv2 and GAT."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from statgraph.gnn.bag_attention import runs_here
from statgraph.gnn.dynamic_attention import dynamic_attention
from statgraph.gnn.message_passing import (
    NEGATIVE_SLOPE,
    by_head,
    edge_softmax,
    head_width_of,
    identity_projection,
    leaky_scalars,
)
from statgraph.gnn.separable_attention import separable_attention
from statgraph.graph.blocks import Block


class AttentionLayer(nn.Module):
    """A mean over the neighbours of a node and the node itself, weighed by attention, heads side by side.

    A subclass gives `_logits_and_values`. Where it has a faster way on a CPU, `forward` here is what other devices and
    precisions run.
    """

    bias: nn.Parameter

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
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

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
        if not runs_here(nodes, block):
            return super().forward(nodes, block)
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

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
        if not runs_here(nodes, block):
            return super().forward(nodes, block)
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
