"""k-GNN in its one-dimensional form: a node's own vector beside the sum of its neighbours'."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.gnn.message_passing import identity_projection, neighbour_sum
from statgraph.graph.blocks import Block


class KGnnLayer(nn.Module):
    """The 1-GNN (Morris et al. 2019, "Weisfeiler and Leman go neural: higher-order graph neural networks").

    With j over the neighbours of node i, i itself left out:

        out_i = W1 x_i + W2 sum_j x_j

    The nonlinearity that the paper puts behind a layer is left out: `GraphEncoder` adds the output to its input. Edge
    types are not looked at. W1 starts as the identity and W2 as zero, so that an untrained layer returns its input. It
    does not smooth as the others do: the sum over a heading's thousands of articles would drown the heading's own
    vector, and no one scale of W2 suits that heading and an article with a single neighbour.

    Args:
        width: components of a node vector, in and out.
        n_heads: not used.
        n_edge_types: not used.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int):
        super().__init__()
        self.own_projection = identity_projection(width)
        self.neighbour_projection = identity_projection(width, scale=0.0)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        own = self.own_projection(block.own(nodes))  # (outputs, width)
        return own + self.neighbour_projection(neighbour_sum(nodes, block)) + self.bias
