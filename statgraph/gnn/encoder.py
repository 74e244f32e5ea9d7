"""The graph encoder: graph layers with residual connections over the vectors of the text encoders."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

from statgraph.errors import UsageError
from statgraph.gnn.dropout import dropout
from statgraph.gnn.registry import layer_of
from statgraph.graph.blocks import Block


class GraphEncoder(nn.Module):
    """Enriches node vectors with those of their L-hop neighbourhood (QABISAR, section 2.2).

    Each layer adds to its input: h <- h + gate * dropout(layer(h)). The layers' projections start as the identity (see
    `QabisarLayer`), so that training begins from a smoothing of the text encoders' vectors over the graph, and not from
    noise: with a few hundred questions that start is most of the gain.

    Args:
        layer: name in `statgraph.gnn.registry`.
        width: components of a node vector.
        n_layers: layers, one hop each.
        n_heads: attention heads.
        n_edge_types: relations of the graph, reverses included.
        dropout: share of a layer's output components left out in training.
        first_gate: what each gate starts from.
        unit_length: whether the vectors that come out have length 1, as where the similarity is the cosine.

    Raises:
        UsageError: if there is no such layer, or a number is out of range.
    """

    def __init__(
        self,
        *,
        layer: str,
        width: int,
        n_layers: int,
        n_heads: int,
        n_edge_types: int,
        dropout: float,
        first_gate: float,
        unit_length: bool = True,
    ):
        super().__init__()
        if n_layers < 1:
            raise UsageError(f"gnn.layers: {n_layers} is no number of layers; give 1 or more")
        if not 0 <= dropout < 1:
            raise UsageError(f"gnn.dropout: {dropout} is no share to leave out; give a number from 0 to below 1")
        build = layer_of(layer)
        self.layers = nn.ModuleList(build(width, n_heads=n_heads, n_edge_types=n_edge_types) for _ in range(n_layers))
        self.gates = nn.Parameter(torch.full((n_layers,), first_gate))
        self.dropout = dropout
        self.unit_length = unit_length

    @property
    def needs_whole_graph(self) -> bool:
        """Return whether a layer looks at more than the edges that end in a node, so that blocks give other vectors."""
        return any(getattr(layer, "counts_outgoing_edges", False) for layer in self.layers)

    def forward(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return vectors (outputs of the last block, width) from the inputs' (inputs, width).

        Raises:
            ValueError: if there is not one block a layer, or not one vector for each input of the first.
        """
        if len(blocks) != len(self.layers):
            raise ValueError(f"{len(blocks)} blocks for {len(self.layers)} layers; give one block a layer")
        if len(nodes) != blocks[0].n_inputs:
            raise ValueError(f"{len(nodes)} node vectors for a block of {blocks[0].n_inputs} inputs; give one an input")
        nodes = self._passed(nodes, blocks)
        return functional.normalize(nodes, dim=1) if self.unit_length else nodes

    def last_attention(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return the last layer's attention, (edge weights (edges, heads), own weights (outputs, heads)), over its own
        block; None where the layer has none. The arguments are those of `forward`."""
        weights_of = getattr(self.layers[-1], "attention_weights", None)
        return None if weights_of is None else weights_of(self._passed(nodes, blocks[:-1]), blocks[-1])

    def _passed(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return the vectors behind the first layers, as many as there are blocks."""
        for layer, gate, block in zip(self.layers, self.gates, blocks, strict=False):
            update = dropout(layer(nodes, block), self.dropout, self.training)
            nodes = torch.addcmul(block.own(nodes), update, gate)
        return nodes
