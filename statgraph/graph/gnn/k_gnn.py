"""k-GNN and GraphSAGE: the node itself beside the sum or the mean of its neighbours, without attention.

The nonlinearity that the papers put behind a layer is left out: `GraphEncoder` adds a layer's output to its input.
Heads and edge types are not used.
"""

from __future__ import annotations

import torch
from torch import nn

from statgraph.graph.blocks import Block
from statgraph.graph.gnn.message_passing import edges_at, identity_projection, neighbour_sum


class KGnnLayer(nn.Module):  # type: ignore[misc]
    """The 1-GNN (Morris et al. 2019, "Weisfeiler and Leman go neural: higher-order graph neural networks").

    With j over the neighbours of node i, i itself left out:

        out_i = W1 x_i + W2 sum_j x_j

    W1 starts as the identity and W2 as 0.3 times it, so that an untrained layer smooths, as the others do. The sum has
    no bound, and a heading's is over thousands of articles. On dev questions a larger factor is better for French law
    and worse for Chinese law, whose tree is flat; this one helps the former and hardly costs the latter.
    """

    _own_scale, _neighbour_scale = 1.0, 0.3  # of the identity that W1 and W2 start as

    def __init__(self, width: int, *, n_heads: int, n_edge_types: int, out_width: int | None = None):
        super().__init__()
        self.own_projection = identity_projection(width, out_width, scale=self._own_scale)
        self.neighbour_projection = identity_projection(width, out_width, scale=self._neighbour_scale)
        self.bias = nn.Parameter(torch.zeros(out_width or width))

    def forward(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        """Return the output nodes' vectors (outputs, out width) from the input nodes' (inputs, width)."""
        own = self.own_projection(block.own(nodes))  # (outputs, width)
        return own + self.neighbour_projection(self._aggregated(nodes, block)) + self.bias

    def _aggregated(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        return neighbour_sum(nodes, block)


class GraphSageLayer(KGnnLayer):
    """GraphSAGE's mean aggregator (Hamilton, Ying and Leskovec 2017, "Inductive representation learning on large
    graphs", algorithm 1, lines 4 and 5).

    With j over the neighbours of node i, i itself left out:

        out_i = W1 x_i + W2 mean_j x_j

    which is the paper's one matrix on the two vectors put end to end; the mean of no neighbours is zero. The paper's
    unit length behind a layer is left out too. W1 and W2 start as half the identity, so that an untrained layer moves a
    node half-way to the mean of its neighbours.
    """

    _own_scale, _neighbour_scale = 0.5, 0.5

    def _aggregated(self, nodes: torch.Tensor, block: Block) -> torch.Tensor:
        n_neighbours = edges_at(block.targets, block.n_outputs).clamp(min=1)
        return neighbour_sum(nodes, block) / n_neighbours.unsqueeze(1)  # (outputs, width)
