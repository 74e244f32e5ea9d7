"""The sum over the edges that end in a node, the node itself left out."""

from __future__ import annotations

import torch

from statgraph.graph.blocks import Block


def neighbour_sum(nodes: torch.Tensor, block: Block) -> torch.Tensor:
    """Return the sum of each output node's neighbours (outputs, width) from the input nodes' vectors (inputs, width).

    A neighbour counts once an edge. A node without edges has the sum zero.
    """
    return nodes.new_zeros(block.n_outputs, nodes.shape[1]).index_add(0, block.targets, nodes[block.sources])
