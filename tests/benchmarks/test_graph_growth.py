import pytest

from benchmarks.graph_growth import growth_of, timed_graph
from benchmarks.synthetic_law import synthetic_law


@pytest.mark.parametrize("nearby", [False, True])
def test_a_size_is_measured_in_a_process_of_its_own(nearby):
    grown = growth_of(1_000, rounds=2, nearby=nearby)
    # 1,000 articles, 110 headings, 100 questions; 1,000 + 100 + 1,000 edges and their reverses
    assert (grown["articles"], grown["nodes"], grown["edges"]) == (1_000, 1_210, 4_200)
    assert len(grown["seconds"]) == 2
    parts = zip(grown["building_s"], grown["indexing_s"], strict=True)
    assert grown["seconds"] == [building + indexing for building, indexing in parts]
    assert 0 < grown["before_mib"] <= grown["peak_mib"]


def test_a_timed_graph_comes_with_its_index():
    (graph, merged), building_s, indexing_s = timed_graph(synthetic_law(100))
    assert min(building_s, indexing_s) > 0
    assert len(merged.edges.sources) == graph.num_edges()
    assert len(merged.edges.starts) == graph.num_nodes() + 1
