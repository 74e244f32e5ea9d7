import numpy as np
import pytest

from statgraph.graph.build import build_graph
from statgraph.graph.dgl_loader import load_dgl
from statgraph.graph.incoming import IncomingEdges, grouped_by_target, incoming_edges
from statgraph.graph.relations import CITES


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


def test_a_saved_graph_has_the_same(town, tmp_path):
    dgl = load_dgl()
    heterograph = build_graph(town).heterograph
    dgl.save_graphs(str(tmp_path / "graph.dgl"), [heterograph])
    (loaded,), _ = dgl.load_graphs(str(tmp_path / "graph.dgl"))
    before, after = incoming_edges(heterograph), incoming_edges(loaded)
    assert {edge_type: listed(edges) for edge_type, edges in after.items()} == {
        edge_type: listed(edges) for edge_type, edges in before.items()
    }
