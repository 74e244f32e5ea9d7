"""The maximum over a node's neighbourhood, component by component."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.message_passing import identity_projection


class MaximumLayer(nn.Module):  # type: ignore[misc]
    """out_i = W max(x_i, max_j x_j), with j over the neighbours of i; edge types are not used."""

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        self.projection = identity_projection(width, out_width or width)

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return (outputs, out width) from (inputs, width)."""
        own = block.own(nodes)
        targets = block.targets[:, None].expand(-1, nodes.shape[1])
        return self.projection(own.scatter_reduce(0, targets, nodes[block.sources], "amax"))
