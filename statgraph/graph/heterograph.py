"""From arrays of rows to the DGL heterograph: no record is needed, so that it holds for more law than records could."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.relations import NODE_TYPES, Edges, Relation

ITSELF = "itself"


def heterograph_of(edges: Mapping[Relation, Edges], node_counts: Mapping[str, int]) -> object:
    """Return the DGL heterograph of relations, each with its reverse; an edge and its reverse have the same id.

    Args:
        edges: the rows that a relation joins, sources and targets, (edges,) each: whole numbers of any width.
        node_counts: number of nodes of each of `NODE_TYPES`.

    Raises:
        ValueError: if a row is none of its type's, or a relation has more sources than targets or fewer.
    """
    import torch

    of_type = {}
    for relation, (sources, targets) in edges.items():
        if len(sources) != len(targets):
            raise ValueError(
                f"{relation.name}: {len(sources)} sources, {len(targets)} targets; give one of each for an edge"
            )
        ends = []
        for node_type, rows in ((relation.source, sources), (relation.target, targets)):
            rows = np.ascontiguousarray(rows, dtype=np.int64)
            _check(relation, node_type, rows, node_counts[node_type])
            ends.append(torch.from_numpy(rows))
        of_type[relation.forward_type] = tuple(ends)
        of_type[relation.reverse_type] = tuple(reversed(ends))
    counts = {node_type: node_counts[node_type] for node_type in NODE_TYPES}
    return load_dgl().heterograph({**of_type, **_isolated_types(of_type)}, num_nodes_dict=counts)


def _check(relation: Relation, node_type: str, rows: np.ndarray, count: int) -> None:
    """Return if all rows are those of nodes: DGL takes a negative one, and ends the process over it later."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < count:
        raise ValueError(
            f"{relation.name}: {node_type} rows from {rows.min()} to {rows.max()}; there are {count} of type "
            f"{node_type}, so give rows from 0 to {count - 1}"
        )


def _isolated_types(edges: Mapping[tuple[str, str, str], object]) -> dict:
    """Return an empty relation of its own for each node type that no relation touches: DGL's blocks lose the nodes of
    a type that stands in no edge type."""
    touched = {node_type for source, _, target in edges for node_type in (source, target)}
    return {(node_type, ITSELF, node_type): ([], []) for node_type in NODE_TYPES if node_type not in touched}
