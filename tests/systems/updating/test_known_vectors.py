import numpy as np
import pytest

from statgraph.encoders.hashes import text_hashes
from statgraph.systems.updating.known_vectors import KnownVectors


@pytest.fixture
def known():
    known = KnownVectors(2)
    known.add(text_hashes(["a", "b"]), np.array([[1, 2], [3, 4]], dtype=np.float32))
    known.add(text_hashes(["b", "c"]), np.array([[9, 9], [5, 6]], dtype=np.float32))
    return known


def test_vectors_come_by_text_in_the_order_asked(known):
    assert known.vectors(text_hashes(["c", "b", "a", "c"])).tolist() == [[5, 6], [3, 4], [1, 2], [5, 6]]
    assert known.vectors(text_hashes([])).shape == (0, 2)


def test_what_is_unknown_is_told_once(known):
    texts = ["a", "x", "y", "x"]
    assert list(known.unknown(text_hashes(texts), texts).values()) == ["x", "y"]


def test_an_unknown_text_has_no_vector(known):
    with pytest.raises(KeyError):
        known.vectors(text_hashes(["x"]))
