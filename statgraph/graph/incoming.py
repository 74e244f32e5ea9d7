"""The edges of a heterograph by the node that they run into: what a sampler walks back along."""

from __future__ import annotations

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
