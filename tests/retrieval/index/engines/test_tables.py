import numpy as np

from statgraph.retrieval.index.engines.tables import probes_of, ranked_ids


def test_ranked_by_inner_product():
    ranking = ranked_ids(["a", "b", "c"], np.array([[1, 0], [3, 0], [2, 5]], dtype=np.float32), np.float32([2, 0]), 2)
    assert (ranking.ids, ranking.scores.tolist()) == (("b", "c"), [6, 4])


def test_lists_that_are_read_grow_as_a_condition_narrows():
    assert probes_of(1024, 1_000_000, 1_000_000, 10) == 128
    assert probes_of(1024, 250_000, 1_000_000, 10) == 512
    assert probes_of(1024, 50_000, 1_000_000, 10) == 1024
    assert probes_of(1024, 20_000, 1_000_000, 10) == 0  # all are compared
