import numpy as np
import pytest

from statgraph.index import list_centres
from statgraph.index.list_centres import ListCentres

CENTRES = np.array([[1, 0], [0, 1], [1, 0], [-1, 0], [0.5, 0.5]], dtype=np.float32)


@pytest.mark.parametrize("block_products", [1, 5, 1 << 20])
def test_centres_by_hand(monkeypatch, block_products):
    monkeypatch.setattr(list_centres, "_BLOCK_PRODUCTS", block_products)
    scores, numbers = ListCentres(CENTRES).search(np.array([[2, 1], [-1, 2], [0, 0]], dtype=np.float32), 4)
    assert scores.tolist() == [[2, 2, 1.5, 1], [2, 1, 0.5, -1], [0, 0, 0, 0]]
    assert numbers.tolist() == [[0, 2, 4, 1], [1, 3, 4, 0], [0, 1, 2, 3]]
    assert (scores.dtype, numbers.dtype) == (np.float32, np.int64)


def test_no_query_gives_no_lists():
    scores, numbers = ListCentres(CENTRES).search(np.empty((0, 2), dtype=np.float32), 3)
    assert scores.shape == numbers.shape == (0, 3)


def test_a_question_scores_the_same_alone_and_among_others():
    rng = np.random.default_rng(0)
    centres, queries = (rng.standard_normal((n_rows, 37), np.float32) for n_rows in (200, 50))
    scores, numbers = ListCentres(centres).search(queries, 200)
    for place in range(50):
        one_scores, one_numbers = ListCentres(centres).search(queries[place : place + 1], 200)
        assert (one_scores == scores[place]).all()
        assert (one_numbers == numbers[place]).all()
