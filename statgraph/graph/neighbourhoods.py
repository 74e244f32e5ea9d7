"""Whole neighbourhoods, walked back from a set of nodes hop by hop: each edge is met once, however many hops follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from statgraph.graph.incoming import EdgeType, Ends, IncomingEdges, MergedEdges

# Tells of edges of a type, by the rows of their sources and targets, (edges,) each, which of them can be seen, (edges,)
# bool; None for all.
Visible = Callable[[EdgeType, np.ndarray, np.ndarray], np.ndarray | None]


@dataclass(frozen=True)
class LayerEdges:
    """The edges between a layer's inputs and its outputs, by type.

    `input_counts` and `output_counts` are the numbers of nodes of each type; `edges` has for each edge type the places
    of its sources among the inputs and of its targets among the outputs, of their own node type. The outputs are the
    first inputs.
    """

    input_counts: Mapping[str, int]
    output_counts: Mapping[str, int]
    edges: Mapping[EdgeType, Ends]


@dataclass(frozen=True)
class Neighbourhood:
    """The rows of all nodes that the layers need, by node type and the seeds first, and the layers' edges, the layer
    next to the input first."""

    nodes: Mapping[str, np.ndarray]
    layers: tuple[LayerEdges, ...]


class NeighbourhoodWalker:
    """Walks back along every visible edge.

    Args:
        incoming: the graph's edges.
        node_counts: number of nodes of each type.
        n_layers: hops to walk.
    """

    def __init__(self, incoming: Mapping[EdgeType, IncomingEdges], node_counts: Mapping[str, int], n_layers: int):
        self._edge_types = tuple(incoming)
        self._merged = MergedEdges.of(incoming, node_counts)
        self._n_layers = n_layers
        # A node's place in the neighbourhood at hand. Kept from one to the next: to wipe the nodes that were met costs
        # as much as they are, a new array as much as the graph has.
        self._places = {node_type: np.full(count, -1) for node_type, count in node_counts.items()}

    def neighbourhood(self, seeds: Mapping[str, np.ndarray], visible: Visible) -> Neighbourhood:
        """Return the neighbourhood of the seeds, rows of each node type, each row at most once."""
        met = {node_type: [seeds[node_type]] for node_type in self._places}
        try:
            return self._walked(met, visible)
        finally:
            for node_type, hops in met.items():
                for rows in hops:
                    self._places[node_type][rows] = -1

    def _walked(self, met: dict[str, list[np.ndarray]], visible: Visible) -> Neighbourhood:
        """Return the neighbourhood; `met` has the seeds' rows, and gets those that each hop is the first to meet."""
        counts = [{node_type: len(rows) for node_type, (rows,) in met.items()}]  # of nodes within 0, 1, ... hops
        for node_type, (rows,) in met.items():
            self._places[node_type][rows] = np.arange(len(rows))
        edges = {edge_type: [] for edge_type in self._edge_types}
        before = dict.fromkeys(met, 0)
        for _ in range(self._n_layers):
            within = counts[-1]
            hop = self._edges_into({node_type: rows[-1] for node_type, rows in met.items()}, before, visible)
            for node_type in met:
                sources = [rows for edge_type, (rows, _) in hop.items() if edge_type[0] == node_type]
                met[node_type].append(self._newly_met(node_type, sources, within[node_type]))
            for edge_type, (rows, targets) in hop.items():
                edges[edge_type].append((self._places[edge_type[0]][rows], targets))
            before = within
            counts.append({node_type: within[node_type] + len(rows[-1]) for node_type, rows in met.items()})
        nodes = {node_type: np.concatenate(rows) for node_type, rows in met.items()}
        return Neighbourhood(nodes, self._layers(counts, edges))

    def _edges_into(
        self, rows: Mapping[str, np.ndarray], before: Mapping[str, int], visible: Visible
    ) -> dict[EdgeType, Ends]:
        """Return the source rows of the visible edges into some nodes and the places of their targets, by edge type;
        the places of the nodes of a type are those after the `before` that it had."""
        numbers, targets, sources = self._merged.into(rows)  # targets: places among all `rows`
        starts = dict(zip(rows, np.cumsum([0, *map(len, rows.values())]), strict=False))
        found = {}
        for number, edge_type in enumerate(self._edge_types):
            of_type = np.flatnonzero(numbers == number)
            source_rows, places = sources[of_type], targets[of_type] - starts[edge_type[2]]
            if len(of_type) and (seen := visible(edge_type, source_rows, rows[edge_type[2]][places])) is not None:
                source_rows, places = source_rows[seen], places[seen]
            found[edge_type] = source_rows, places + before[edge_type[2]]
        return found

    def _newly_met(self, node_type: str, sources: list[np.ndarray], n_before: int) -> np.ndarray:
        """Return the rows among edges' sources that have no place yet, each once, and give them the next ones."""
        places = self._places[node_type]
        rows = np.concatenate(sources) if sources else np.empty(0, dtype=np.int64)
        rows = rows[places[rows] < 0]
        if not len(rows):
            return rows
        order = np.arange(len(rows))
        places[rows[::-1]] = order[::-1]  # of equal rows the one that is written last stays: here the first
        rows = rows[places[rows] == order]
        places[rows] = np.arange(n_before, n_before + len(rows))
        return rows

    def _layers(self, counts: list[dict[str, int]], edges: Mapping[EdgeType, list[Ends]]) -> tuple[LayerEdges, ...]:
        """Return the layers' edges: a hop more has the edges of the hops before and, behind them, its own."""
        joined = {edge_type: tuple(map(np.concatenate, zip(*hops, strict=True))) for edge_type, hops in edges.items()}
        layers, lengths = [], dict.fromkeys(edges, 0)
        for hop in range(self._n_layers):
            lengths = {edge_type: lengths[edge_type] + len(hops[hop][0]) for edge_type, hops in edges.items()}
            of_layer = {
                edge_type: (sources[: lengths[edge_type]], targets[: lengths[edge_type]])
                for edge_type, (sources, targets) in joined.items()
            }
            layers.insert(0, LayerEdges(counts[hop + 1], counts[hop], of_layer))
        return tuple(layers)
