import numpy as np

from statgraph.graph import merged
from statgraph.graph.build import build_graph
from statgraph.graph.incoming import incoming_edges
from statgraph.graph.merged import MergedEdges
from statgraph.graph.relations import NODE_TYPES


def merged_edges(graph) -> MergedEdges:
    node_counts = {node_type: graph.node_count(node_type) for node_type in NODE_TYPES}
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
    everything = {node_type: list(range(graph.node_count(node_type)))[::-1] for node_type in NODE_TYPES}
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
    everything = {node_type: list(range(graph.node_count(node_type))) for node_type in NODE_TYPES}
    assert edges_into(graph, wide, everything) == edges_into(graph, narrow, everything)
