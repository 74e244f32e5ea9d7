import numpy as np
import pytest

from statgraph.graph import incoming as merged
from statgraph.graph.build import build_graph
from statgraph.graph.incoming import IncomingEdges, MergedEdges, grouped_by_target, incoming_edges
from statgraph.graph.relations import CITES, NODE_TYPES


def listed(edges: IncomingEdges) -> list[list[int]]:
    """Return the sources of each target's edges."""
    return [part.tolist() for part in np.split(edges.sources, edges.starts[1:-1])]


@pytest.mark.parametrize(
    ("sources", "targets", "expected"),
    [
        pytest.param([5, 0, 3], [0, 2, 2], [[5], [], [0, 3]], id="targets in order"),
        pytest.param([0, 1, 1, 4], [2, 0, 2, 0], [[1, 4], [], [0, 1]], id="sources in order"),
        pytest.param([4, 0, 9, 1], [2, 0, 2, 0], [[0, 1], [], [4, 9]], id="neither: the order of the ids"),
        pytest.param([7, 2, 2, 7], [1, 0, 1, 1], [[2], [7, 2, 7], []], id="one edge twice"),
        pytest.param([0, 0], [2, 0], [[0], [], [0]], id="no source but the first"),
        pytest.param([], [], [[], [], []], id="no edge"),
    ],
)
def test_edges_stand_by_target(sources, targets, expected):
    ends = np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)
    edges = grouped_by_target(*ends, 3)
    assert listed(edges) == expected
    assert edges.starts.tolist() == [0, *np.cumsum([len(of_target) for of_target in expected])]
    assert edges.targets.tolist() == [target for target, found in enumerate(expected) for _ in found]
    assert [found.tolist() for found in ends] == [sources, targets]  # the arguments stay as they were
    assert edges.starts.dtype == edges.sources.dtype == np.int64


@pytest.mark.parametrize("shuffled", [False, True])
def test_random_edges_stand_as_in_a_stable_sort(shuffled):
    rng = np.random.default_rng(0)
    sources, targets = np.sort(rng.integers(0, 70_000, 5_000)), rng.integers(0, 90, 5_000)
    if shuffled:
        sources = rng.permutation(sources)
    order = np.argsort(targets, kind="stable")
    edges = grouped_by_target(sources, targets, 100)
    assert edges.sources.tolist() == sources[order].tolist()
    assert edges.targets.tolist() == targets[order].tolist()


def test_edges_into_some_targets():
    edges = IncomingEdges(np.array([0, 2, 2, 5]), np.array([8, 6, 9, 7, 9]))
    sources, counts = edges.into(np.array([2, 1, 0]))
    assert (sources.tolist(), counts.tolist()) == ([9, 7, 9, 8, 6], [3, 0, 2])
    sources, counts = edges.into(np.array([1]))
    assert (sources.tolist(), counts.tolist()) == ([], [0])
    sources, counts = edges.into(np.empty(0, dtype=np.int64))
    assert (sources.tolist(), counts.tolist()) == ([], [])


def test_every_relation_stands_as_in_dgls_own_index(sample):
    heterograph = build_graph(sample, ("tree", "bipartite", "order")).heterograph
    incoming = incoming_edges(heterograph)
    assert list(incoming) == heterograph.canonical_etypes
    for edge_type, edges in incoming.items():
        starts, sources, _ = heterograph.adj_tensors("csc", etype=edge_type)
        assert edges.starts.tolist() == starts.tolist()
        assert edges.sources.tolist() == sources.tolist()


def test_who_is_cited_by_whom(town):
    incoming = incoming_edges(build_graph(town).heterograph)
    # q0 cites L1 and W1, q1 L1, q3 L3; the articles are L1, W1, L2, L3, W2, L4.
    assert listed(incoming[CITES.forward_type]) == [[0, 1], [0], [], [2], [], []]
    assert listed(incoming[CITES.reverse_type]) == [[0, 1], [0], [3]]


def merged_edges(graph) -> MergedEdges:
    node_counts = graph.node_counts
    return MergedEdges.of(incoming_edges(graph.heterograph), node_counts)


def edges_into(graph, edges: MergedEdges, rows: dict[str, list[int]]) -> list:
    """Return (edge type, source row, target row) of all edges into some nodes."""
    given = {node_type: np.array(rows.get(node_type, []), dtype=np.int64) for node_type in NODE_TYPES}
    nodes = [(node_type, row) for node_type in NODE_TYPES for row in given[node_type].tolist()]
    found = []
    for number, target, source in zip(*(part.tolist() for part in edges.into(given)), strict=True):
        edge_type = graph.heterograph.canonical_etypes[number]
        assert edge_type[2] == nodes[target][0]
        found.append((edge_type, source, nodes[target][1]))
    return found


def test_all_that_runs_into_a_node_by_hand(town):
    graph = build_graph(town)
    # L1 (row 0) stands in "General" of the Lamp Code (heading 1); q0 and q1 cite it.
    assert edges_into(graph, merged_edges(graph), {"article": [0]}) == [
        (("heading", "contains_article", "article"), 1, 0),
        (("question", "cites", "article"), 0, 0),
        (("question", "cites", "article"), 1, 0),
    ]
    assert edges_into(graph, merged_edges(graph), {}) == []


def test_every_edge_is_there_once(random_corpus, edges_of):
    graph = build_graph(random_corpus(60, 20, cited=5), ("tree", "bipartite", "order"))
    edges = merged_edges(graph)
    everything = {node_type: list(range(graph.node_counts[node_type]))[::-1] for node_type in NODE_TYPES}
    found = edges_into(graph, edges, everything)
    assert len(found) == graph.heterograph.num_edges()
    assert set(found) == edges_of(graph)


def test_a_graph_without_relations_has_no_edges(town):
    graph = build_graph(town, ())
    assert edges_into(graph, merged_edges(graph), {"article": [0, 5], "heading": [2], "question": [1]}) == []


def test_wide_numbers_where_narrow_ones_do_not_hold_them(town, monkeypatch):
    graph = build_graph(town)
    narrow = merged_edges(graph)
    monkeypatch.setattr(merged, "_LARGEST", 5)
    wide = merged_edges(graph)
    assert (narrow.edges.sources.dtype, wide.edges.sources.dtype) == (np.int32, np.int64)
    everything = {node_type: list(range(graph.node_counts[node_type])) for node_type in NODE_TYPES}
    assert edges_into(graph, wide, everything) == edges_into(graph, narrow, everything)
