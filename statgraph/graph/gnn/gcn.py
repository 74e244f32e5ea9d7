"""GCN: a normalised sum over the neighbours, without attention.

The nonlinearity that the paper puts behind a layer is left out: `GraphEncoder` adds a layer's output to its input.
Heads and edge types are not used.
"""

from __future__ import annotations

import torch
from torch import nn

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.message_passing import edges_at, identity_projection, neighbour_sum


class GcnLayer(nn.Module):  # type: ignore[misc]
    """Graph convolution (Kipf and Welling 2017, "Semi-supervised classification with graph convolutional networks",
    equation 2).

    With j over the neighbours of node i and i itself:

        out_i = W sum_j x_j / sqrt(in_i out_j)

    where in_i is 1 + the edges of the block that end in i and out_j is 1 + those that start from j. Over the whole
    graph, where every edge has its reverse, both are the degree in the graph with self loops, and this is the paper's
    formula. In a sampled block an edge's source has an out-count no higher than its degree, often far lower: a heading
    that contains thousands of articles may send to three of them here, and weighs more in those than over the whole
    graph.

    W starts as the identity, so that an untrained layer is the paper's normalised smoothing.
    """

    counts_outgoing_edges = True

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        self.projection = identity_projection(width, out_width)
        self.bias = nn.Parameter(torch.zeros(out_width or width))

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
        scaled = nodes * _inverse_root_degrees(block.sources, block.n_inputs, nodes.dtype)
        total = block.own(scaled) + neighbour_sum(scaled, block)  # (outputs, width)
        return self.projection(total * _inverse_root_degrees(block.targets, block.n_outputs, nodes.dtype)) + self.bias


def _inverse_root_degrees(ends: torch.Tensor, n_nodes: int, dtype: torch.dtype) -> torch.Tensor:
    """Return 1 / sqrt(1 + edges at the node), (nodes, 1), from the node that each edge has at this end, (edges,)."""
    return (1 + edges_at(ends, n_nodes)).to(dtype).rsqrt().unsqueeze(1)
