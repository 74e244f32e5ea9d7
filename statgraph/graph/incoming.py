"""The incoming edges of each node: by edge type, and of all types side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

EdgeType = tuple[str, str, str]
Ends = tuple[np.ndarray, np.ndarray]  # sources and targets, (edges,) each


@dataclass(frozen=True)
class IncomingEdges:
    """The edges of one type in the order of their targets, those of a target in the order of their ids.

    `starts` (targets + 1,) int64 is where the edges of each target begin, and the number of edges; `sources` (edges,)
    int64 is where each edge comes from.
    """

    starts: np.ndarray
    sources: np.ndarray

    @cached_property
    def targets(self) -> np.ndarray:
        """Return the target of each edge, (edges,) int64."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))

    def into(self, targets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sources of all edges into the targets, target after target, and how many each target has."""
        first = self.starts[targets]
        counts = self.starts[targets + 1] - first
        ends = counts.cumsum()
        if not len(ends) or not ends[-1]:
            return self.sources[:0], counts
        # A target's edges lie side by side: the places run on by one but for a jump where the next target begins.
        places = np.repeat(first - ends + counts, counts)
        places += np.arange(len(places))
        return self.sources[places], counts


def incoming_edges(heterograph: object) -> dict[EdgeType, IncomingEdges]:
    """Return the incoming edges of each canonical edge type of a DGL heterograph, in DGL's order of the types.

    DGL makes the same when it samples for the first time, by writing each edge to its target's place: all over the
    memory, once the targets are too many for the caches. Here the memory is gone through in order.
    """
    found = {}
    for edge_type in heterograph.canonical_etypes:
        sources, targets = (ends.numpy() for ends in heterograph.adj_tensors("coo", etype=edge_type))
        found[edge_type] = grouped_by_target(sources, targets, heterograph.num_nodes(edge_type[2]))
    return found


def grouped_by_target(sources: np.ndarray, targets: np.ndarray, n_targets: int) -> IncomingEdges:
    """Return edges, given in the order of their ids, as those incoming to each of the targets."""
    if not _ascending(targets):
        # Edges that come in the order of their sources keep it for each target: the sources themselves can be sorted
        # along with the targets, and none is looked up afterwards.
        in_order = _ascending(sources)
        seconds = sources if in_order else np.arange(len(sources))
        bits = int(seconds.max()).bit_length()
        pairs = (
            targets << bits
        )  # two numbers in one: numpy sorts them several times faster than it finds a stable order
        pairs |= seconds
        pairs.sort()
        targets = pairs >> bits
        pairs &= (1 << bits) - 1
        sources = pairs if in_order else sources[pairs]
    starts = np.bincount(targets, minlength=n_targets + 1)
    np.cumsum(starts, out=starts)  # where each target's edges end, and the next one's begin
    starts[1:] = starts[:-1]
    starts[0] = 0
    return IncomingEdges(starts, sources)


def _ascending(rows: np.ndarray) -> bool:
    return bool((rows[:-1] <= rows[1:]).all())


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
        for node_type in node_counts:
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
        targets = np.concatenate([rows[node_type] + first for node_type, first in self.first_nodes.items()])
        merged, counts = self.edges.into(targets)
        sources, numbers = np.divmod(merged, self.n_edge_types)
        return numbers, np.repeat(np.arange(len(targets)), counts), sources
