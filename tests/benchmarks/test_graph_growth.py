from benchmarks.graph_growth import growth_of, ready_graph
from benchmarks.synthetic_law import synthetic_law


def test_a_size_is_measured_in_a_process_of_its_own():
    grown = growth_of(1_000, rounds=2)
    # 1,000 articles, 110 headings, 100 questions; 1,000 + 100 + 1,000 edges and their reverses
    assert (grown["articles"], grown["nodes"], grown["edges"]) == (1_000, 1_210, 4_200)
    assert len(grown["seconds"]) == 2
    assert 0 < grown["before_mib"] <= grown["peak_mib"]


def test_a_ready_graph_has_every_index():
    formats = ready_graph(synthetic_law(100)).formats()
    assert (sorted(formats["created"]), formats["not created"]) == (["coo", "csc", "csr"], [])
