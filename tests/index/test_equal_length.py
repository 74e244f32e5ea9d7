import numpy as np
import pytest

from statgraph.index.equal_length import EqualLength


def test_unit_vectors_stay_as_they_are(compass):
    form = EqualLength.of(compass)
    assert form == EqualLength(width=2, held_width=2, length=0.0)
    assert form.held(compass).tolist() == compass.tolist()


def test_the_width_is_filled_up_to_whole_parts(compass):
    form = EqualLength.of(compass, parts=4)
    assert form.held_width == 4
    assert form.held(compass[:1]).tolist() == [[1, 0, 0, 0]]
    assert form.asked(compass[1:2]).tolist() == [[0, 1, 0, 0]]


def test_shorter_vectors_get_what_they_lack():
    # 5^2 - 3^2 = 4^2; the vector of length 13 is longer than the rest are made.
    form = EqualLength(width=2, held_width=3, length=5.0)
    held = form.held(np.array([[3, 0], [0, 5], [5, 12]], dtype=np.float32))
    assert held == pytest.approx(np.array([[3, 0, 4], [0, 5, 0], [5, 12, 0]]))


def test_inner_products_stay_and_most_lengths_become_one(unit_vectors):
    vectors = unit_vectors(1000, 6, seed=1) * np.linspace(0.5, 2, 1000, dtype=np.float32)[:, None]
    queries = unit_vectors(5, 6, seed=2)
    form = EqualLength.of(vectors)
    assert form.length == pytest.approx(0.5 + 1.5 * 0.99, abs=0.01)
    held = form.held(vectors)
    assert form.asked(queries) @ held.T == pytest.approx(queries @ vectors.T, abs=1e-6)
    assert np.isclose(np.linalg.norm(held, axis=1), form.length, atol=1e-5).mean() == pytest.approx(0.99, abs=0.002)
