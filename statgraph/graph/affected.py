"""Which nodes a change of the graph reaches, so that only those are computed again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from statgraph.graph.build import LegalGraph

NEW = -1


def old_rows(old: LegalGraph, new: LegalGraph) -> dict[str, np.ndarray]:
    """Return by node type the row that each node of `new` has in `old`, (nodes,) int64, `NEW` where it has none.

    Articles and questions are the same where their ids are, headings where their whole paths are.
    """
    return {node_type: places_in(old.node_names[node_type], new.node_names[node_type]) for node_type in new.node_types}


def affected_nodes(
    old: LegalGraph, new: LegalGraph, *, rows: Mapping[str, np.ndarray], changed: Mapping[str, np.ndarray], hops: int
) -> dict[str, np.ndarray]:
    """Return by node type of `new`, (nodes,) bool, whether `hops` layers may give another vector than in `old`.

    A layer's output depends on the node itself and the edges that end in it. It may change where the node's own vector
    or its set of incoming edges has changed, or where one of its neighbours' has: one hop more with each layer.

    Args:
        rows: what `old_rows` returned.
        changed: by node type (nodes of `new`,) bool, whose input vectors have changed; nodes that are new count so too.
        hops: layers.
    """
    rewired = _rewired(old, new, rows)
    reached = {node_type: changed[node_type] | (rows[node_type] == NEW) for node_type in rows}
    for _ in range(hops):
        further = {node_type: reached[node_type] | rewired[node_type] for node_type in rows}
        for edge_type in new.edge_types:
            sources, targets = new.ends(edge_type)
            further[edge_type[2]][targets[reached[edge_type[0]][sources]]] = True
        reached = further
    return reached


def _rewired(old: LegalGraph, new: LegalGraph, rows: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return by node type of `new`, (nodes,) bool, whose incoming edges are not those they had."""
    rewired = {node_type: np.zeros(len(rows[node_type]), dtype=bool) for node_type in rows}
    new_rows = {node_type: _inverse(rows[node_type], old.node_counts[node_type]) for node_type in rows}
    for edge_type in new.edge_types:
        source_type, _, target_type = edge_type
        old_sources, old_targets = old.ends(edge_type)
        before = new_rows[source_type][old_sources], new_rows[target_type][old_targets]
        after = new.ends(edge_type)
        # An edge whose source is gone counts as one from row -1.
        stays = before[1] != NEW
        n_targets = max(1, new.node_counts[target_type])
        codes_before, codes_after = (
            (sources + 1) * n_targets + targets for sources, targets in ((before[0][stays], before[1][stays]), after)
        )
        differing = np.setxor1d(codes_before, codes_after)
        rewired[target_type][differing % n_targets] = True
    return rewired


def places_in(old: Sequence[object], new: Sequence[object]) -> np.ndarray:
    """Return the place that each of some names has among the old ones, (new,) int64, `NEW` where it has none."""
    rows = {name: row for row, name in enumerate(old)}
    return np.array([rows.get(name, NEW) for name in new], dtype=np.int64)


def _inverse(rows: np.ndarray, n_old: int) -> np.ndarray:
    """Return the new row of each old node, (old nodes,) int64, `NEW` where it has gone."""
    inverse = np.full(n_old, NEW, dtype=np.int64)
    kept = rows != NEW
    inverse[rows[kept]] = np.flatnonzero(kept)
    return inverse
