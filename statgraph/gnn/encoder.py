"""The graph encoder: attention layers with residual connections over the vectors of the text encoders."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional

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
    ):
        super().__init__()
        build = layer_of(layer)
        self.layers = nn.ModuleList(build(width, n_heads=n_heads, n_edge_types=n_edge_types) for _ in range(n_layers))
        self.gates = nn.Parameter(torch.full((n_layers,), first_gate))
        self.dropout = dropout

    def forward(self, nodes: torch.Tensor, blocks: Sequence[Block]) -> torch.Tensor:
        """Return unit-length vectors (outputs of the last block, width) from the inputs' (inputs, width)."""
        for layer, gate, block in zip(self.layers, self.gates, blocks, strict=True):
            update = functional.dropout(layer(nodes, block), self.dropout, self.training)
            nodes = nodes[block.own_inputs] + gate * update
        return functional.normalize(nodes, dim=1)
