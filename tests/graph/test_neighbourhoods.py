import numpy as np
import pytest

from statgraph.graph.build import build_graph
from statgraph.graph.incoming import incoming_edges
from statgraph.graph.neighbourhoods import LayerEdges, NeighbourhoodWalker
from statgraph.graph.relations import CITES, NODE_TYPES

IN_HEADING = ("article", "in_heading", "heading")
CONTAINS_ARTICLE = ("heading", "contains_article", "article")


def seeds(**rows: list[int]) -> dict[str, np.ndarray]:
    return {node_type: np.array(rows.get(node_type, []), dtype=np.int64) for node_type in NODE_TYPES}


def everything(edge_type, sources, targets) -> None:
    return None


def edges_of(layer: LayerEdges) -> dict:
    """Return a layer's edges as pairs of places, without the types that have none."""
    pairs = {
        edge_type: list(zip(sources.tolist(), targets.tolist(), strict=True))
        for edge_type, (sources, targets) in layer.edges.items()
    }
    return {edge_type: found for edge_type, found in pairs.items() if found}


def counts(**numbers: int) -> dict[str, int]:
    return {node_type: numbers.get(node_type, 0) for node_type in NODE_TYPES}


@pytest.fixture
def walker_of(town):
    graph = build_graph(town)
    node_counts = graph.node_counts

    def walker(n_layers: int) -> NeighbourhoodWalker:
        return NeighbourhoodWalker(incoming_edges(graph.heterograph), node_counts, n_layers)

    return walker


def test_two_hops_by_hand(walker_of):
    # q3 (row 2) cites L3 (row 3), which stands beside L1 (row 0) in "General" of the Lamp Code (heading 1).
    found = walker_of(2).neighbourhood(seeds(question=[2]), everything)
    assert {name: rows.tolist() for name, rows in found.nodes.items()} == {
        "article": [3],
        "heading": [1],
        "question": [2],
    }
    outer, inner = found.layers
    assert edges_of(inner) == {CITES.reverse_type: [(0, 0)]}
    assert (inner.input_counts, inner.output_counts) == (counts(article=1, question=1), counts(question=1))
    # A hop more: the question's edge again, and those into the article, from the heading and from the question itself.
    assert edges_of(outer) == {
        CITES.reverse_type: [(0, 0)],
        CONTAINS_ARTICLE: [(0, 0)],
        CITES.forward_type: [(0, 0)],
    }
    assert outer.input_counts == counts(article=1, heading=1, question=1)
    assert outer.output_counts == inner.input_counts


def test_a_node_that_several_edges_meet_has_one_place(walker_of):
    # q0 cites L1 (row 0) and W1 (row 1), q1 cites L1: three edges, two articles.
    found = walker_of(1).neighbourhood(seeds(question=[1, 0]), everything)
    assert found.nodes["article"].tolist() == [0, 1]
    (layer,) = found.layers
    assert edges_of(layer) == {CITES.reverse_type: [(0, 0), (0, 1), (1, 1)]}
    # W1 (row 1) is a seed, so that it keeps the first place.
    found = walker_of(1).neighbourhood(seeds(article=[1], question=[1, 0]), everything)
    assert found.nodes["article"].tolist() == [1, 0]


def test_edges_that_cannot_be_seen_are_not_walked(walker_of):
    def all_but_citations_by_q0(edge_type, sources, targets):
        questions = {CITES.forward_type: sources, CITES.reverse_type: targets}.get(edge_type)
        return None if questions is None else questions != 0

    found = walker_of(2).neighbourhood(seeds(question=[0, 1]), all_but_citations_by_q0)
    assert found.nodes["article"].tolist() == [0]  # W1, which q0 alone cites, is never met
    assert edges_of(found.layers[1]) == {CITES.reverse_type: [(0, 1)]}
    assert edges_of(found.layers[0])[CITES.forward_type] == [(1, 0)]


def test_one_walk_leaves_no_trace_for_the_next(walker_of):
    walker = walker_of(3)
    first = walker.neighbourhood(seeds(article=[5, 2], question=[1]), everything)
    walker.neighbourhood(seeds(article=[0, 3], heading=[4, 0]), everything)
    again = walker.neighbourhood(seeds(article=[5, 2], question=[1]), everything)
    assert {name: rows.tolist() for name, rows in again.nodes.items()} == {
        name: rows.tolist() for name, rows in first.nodes.items()
    }
    assert [edges_of(layer) for layer in again.layers] == [edges_of(layer) for layer in first.layers]


def test_a_walk_that_fails_leaves_no_trace_either(walker_of):
    def fails(edge_type, sources, targets):
        raise RuntimeError

    walker = walker_of(1)
    with pytest.raises(RuntimeError):
        walker.neighbourhood(seeds(article=[4], question=[2]), fails)
    found = walker.neighbourhood(seeds(heading=[1]), everything)
    expected = walker_of(1).neighbourhood(seeds(heading=[1]), everything)
    assert edges_of(found.layers[0]) == edges_of(expected.layers[0])
    assert edges_of(found.layers[0])[IN_HEADING]


def test_the_seeds_are_not_written_to(walker_of):
    given = seeds(article=[3, 0], question=[2])
    found = walker_of(2).neighbourhood(given, everything)
    found.nodes["article"][:] = 9
    assert given["article"].tolist() == [3, 0]
