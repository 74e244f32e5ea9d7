"""The incoming edges of all types side by side: one look at the memory finds all that runs into a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from statgraph.graph.incoming import EdgeType, IncomingEdges
from statgraph.graph.relations import NODE_TYPES

_LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class MergedEdges:
    """The edges of a graph by target, all node types in one numbering.

    Attributes:
        edges: where each node's edges begin, and for each edge its source row times `n_edge_types`, plus the number of
            its type; int32 where that holds them, since what a walk costs is the memory that it has to fetch.
        n_edge_types: number of edge types.
        first_nodes: the number of the first node of each type.
    """

    edges: IncomingEdges
    n_edge_types: int
    first_nodes: Mapping[str, int]

    @classmethod
    def of(cls, incoming: Mapping[EdgeType, IncomingEdges], node_counts: Mapping[str, int]) -> MergedEdges:
        """Return the merged edges of each type, of a node in the order of the types."""
        n_nodes, n_edges = sum(node_counts.values()), sum(len(edges.sources) for edges in incoming.values())
        dtype = np.int32 if max(n_nodes * len(incoming), n_edges) <= _LARGEST else np.int64
        starts, merged = np.zeros(n_nodes + 1, dtype=dtype), np.empty(n_edges, dtype=dtype)
        first_nodes, first_node, first_edge = {}, 0, 0
        for node_type in NODE_TYPES:
            first_nodes[node_type] = first_node
            parts = [(number, incoming[kind]) for number, kind in enumerate(incoming) if kind[2] == node_type]
            begin = starts[first_node : first_node + node_counts[node_type]]
            begin += first_edge
            for _, edges in parts:
                begin += edges.starts[:-1].astype(dtype, copy=False)
            before = begin.copy()  # where the next type's edges of each node go
            for number, edges in parts:
                counts = np.diff(edges.starts)
                places = np.repeat(before - edges.starts[:-1].astype(dtype, copy=False), counts)
                places += np.arange(len(places), dtype=dtype)
                values = edges.sources.astype(dtype)
                values *= len(incoming)
                values += number
                merged[places] = values
                before += counts
            first_node += node_counts[node_type]
            first_edge += sum(len(edges.sources) for _, edges in parts)
        starts[-1] = n_edges
        return cls(IncomingEdges(starts, merged), len(incoming), first_nodes)

    def into(self, rows: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of all edges into some nodes the number of the type, the place of the target among the rows of all
        types, type after type, and the source's row, (edges,) each."""
        targets = np.concatenate([rows[node_type] + self.first_nodes[node_type] for node_type in NODE_TYPES])
        merged, counts = self.edges.into(targets)
        sources, numbers = np.divmod(merged, self.n_edge_types)
        return numbers, np.repeat(np.arange(len(targets)), counts), sources
