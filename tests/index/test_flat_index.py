import faiss
import numpy as np
import pytest

from statgraph.config import IndexConfig
from statgraph.index.flat_index import FlatIndex


def test_vectors_are_a_view(compass):
    index = FlatIndex.build(compass, IndexConfig(), device="cpu")
    assert (len(index), index.width) == (5, 2)
    assert index.vectors.tolist() == compass.tolist()


def test_half_precision_is_widened():
    index = FlatIndex.build(np.array([[1, 2], [3, 0.5]], dtype=np.float16), IndexConfig(), device="cpu")
    scores, rows = index.search(np.array([[2, 1]], dtype=np.float32), 2)
    assert (scores.tolist(), rows.tolist()) == ([[6.5, 4.0]], [[1, 0]])


@pytest.mark.parametrize("n_queries", [1, 50])
def test_it_is_faiss_to_the_last_bit(unit_vectors, n_queries):
    vectors, queries = unit_vectors(700, 24, seed=1), unit_vectors(n_queries, 24, seed=2)
    flat = faiss.IndexFlatIP(24)
    flat.add(vectors)
    expected_scores, expected_rows = flat.search(queries, 100)
    scores, rows = FlatIndex.build(vectors, IndexConfig(), device="cpu").search(queries, 100)
    assert (scores == expected_scores).all()
    assert (rows == expected_rows).all()


def test_ties_across_the_cut_go_by_row():
    index = FlatIndex.build(np.ones((50, 2), dtype=np.float32), IndexConfig(), device="cpu")
    assert index.search(np.ones((1, 2), dtype=np.float32), 3)[1].tolist() == [[0, 1, 2]]
