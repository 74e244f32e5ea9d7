"""A few neighbours of each node, drawn for each layer by DGL's sampler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch

from statgraph.graph.dgl_loader import load_dgl, single_threaded
from statgraph.graph.incoming import EdgeType, IncomingEdges
from statgraph.graph.neighbourhoods import LayerEdges, Neighbourhood, Visible

_VISIBLE = "visible"


class NeighbourDrawer:
    """Draws for each node and relation as many neighbours as its layer keeps.

    Args:
        incoming: the graph's edges.
        node_counts: number of nodes of each type.
        fanouts: neighbours kept, one number a layer, the layer next to the input first; -1 keeps all.
    """

    def __init__(
        self, incoming: Mapping[EdgeType, IncomingEdges], node_counts: Mapping[str, int], fanouts: Sequence[int]
    ):
        dgl = load_dgl()
        self._incoming = incoming
        self._node_types = tuple(node_counts)
        # The sampler's own graph, to write on its edges which are visible. It has the one index that sampling needs.
        numbered = torch.empty(0, dtype=torch.int64)  # an edge's id is its place
        self._heterograph = dgl.heterograph(
            {
                edge_type: ("csc", (torch.from_numpy(edges.starts), torch.from_numpy(edges.sources), numbered))
                for edge_type, edges in incoming.items()
            },
            num_nodes_dict=dict(node_counts),
        )
        self._sampler = dgl.dataloading.NeighborSampler(list(fanouts), mask=_VISIBLE)

    def neighbourhood(self, seeds: Mapping[str, np.ndarray], visible: Visible) -> Neighbourhood:
        """Return a neighbourhood of the seeds, rows of each node type, each row at most once.

        Edges that cannot be seen are masked before DGL draws: left out afterwards, as its `exclude_eids` does, they
        would take the places of visible neighbours.
        """
        for edge_type, edges in self._incoming.items():
            data = self._heterograph.edges[edge_type].data
            seen = visible(edge_type, edges.sources, edges.targets)
            if seen is not None:
                data[_VISIBLE] = torch.from_numpy(seen)
            else:
                data.pop(_VISIBLE, None)
        with single_threaded():
            inputs, _, layers = self._sampler.sample_blocks(
                self._heterograph, {node_type: torch.from_numpy(rows) for node_type, rows in seeds.items()}
            )
        nodes = {node_type: inputs[node_type].numpy() for node_type in self._node_types}
        return Neighbourhood(nodes, tuple(self._layer(layer) for layer in layers))

    def _layer(self, layer: object) -> LayerEdges:
        """Return the edges of a DGL block, whose outputs come first among its inputs."""
        return LayerEdges(
            input_counts={node_type: layer.num_src_nodes(node_type) for node_type in self._node_types},
            output_counts={node_type: layer.num_dst_nodes(node_type) for node_type in self._node_types},
            edges={
                edge_type: tuple(ends.numpy() for ends in layer.adj_tensors("coo", etype=edge_type))
                for edge_type in self._incoming
            },
        )
