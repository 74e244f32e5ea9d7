"""GraphSAGE: a node's own vector beside the mean of its neighbours'."""

from __future__ import annotations

import torch
from torch import nn

from statgraph.gnn.message_passing import identity_projection, neighbour_sum
from statgraph.graph.blocks import Block


class GraphSageLayer(nn.Module):
    """GraphSAGE's mean aggregator (Hamilton, Ying and Leskovec 2017, "Inductive representation learning on large
    graphs", algorithm 1, lines 4 and 5).

    With j over the neighbours of node i, i itself left out:

        out_i = W1 x_i + W2 mean_j x_j

    which is the paper's one matrix on the two vectors put end to end; the mean of no neighbours is zero. The
    nonlinearity and the unit length that the paper puts behind a layer are left out: `GraphEncoder` adds the output to
    its input. Edge types are not looked at. W1 and W2 start as half the identity, so that an untrained layer moves a
    node half-way to the mean of its neighbours.

    Args:
        width: components of a node vector, in and out.
        n_heads: not used.
        n_edge_types: not used.
    """

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int):
        super().__init__()
        self.own_projection = identity_projection(width, scale=0.5)
        self.neighbour_projection = identity_projection(width, scale=0.5)
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, width) from the input nodes' (inputs, width)."""
        n_neighbours = torch.bincount(block.targets, minlength=block.n_outputs).clamp(min=1)
        means = neighbour_sum(nodes, block) / n_neighbours.unsqueeze(1)  # (outputs, width)
        return self.own_projection(block.own(nodes)) + self.neighbour_projection(means) + self.bias
