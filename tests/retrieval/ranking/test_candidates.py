import numpy as np

from statgraph.retrieval.ranking.candidates import united


def test_rows_that_several_propose_are_united():
    assert united([np.array([7, 0, 3]), np.array([3, 9, 0]), np.array([], dtype=np.int64)]).tolist() == [0, 3, 7, 9]
    assert united([np.array([], dtype=np.int64)]).tolist() == []
