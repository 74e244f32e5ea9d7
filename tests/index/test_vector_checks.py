import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.index import blocks
from statgraph.index.vector_checks import all_unit_length, check_ids, check_vectors, vector_lengths


@pytest.mark.parametrize(("value", "length"), [(np.nan, "nan"), (np.inf, "inf"), (0.0, "0"), (2.0, "2")])
def test_vectors_not_of_length_one_are_refused(compass, value, length):
    wrong = compass[:3].copy()
    wrong[1, 1] = value
    with pytest.raises(RunError) as refused:
        check_vectors("index", wrong, ["A", "B", "C"])
    assert str(refused.value) == (
        f"index: the vector of article 'B' has length {length}, not 1 (1 of 3 are wrong); "
        "normalise them, or train the run again"
    )


def test_rounding_to_half_precision_is_let_through(compass):
    check_vectors("index", compass.astype(np.float16).astype(np.float32), list("ABCDE"))


def test_an_id_that_stands_twice_is_refused(compass):
    with pytest.raises(RunError, match=r"^index: article id 'B' appears 2 times; ids must be unique$"):
        check_vectors("index", compass[:3], ["A", "B", "B"])


def test_vectors_of_any_length_must_be_finite(compass):
    wrong = 3 * compass[:2]
    check_vectors("index", wrong, ["A", "B"], unit_length=False)
    wrong[1, 0] = np.nan
    with pytest.raises(RunError) as refused:
        check_vectors("index", wrong, ["A", "B"], unit_length=False)
    assert str(refused.value) == (
        "index: the vector of article 'B' is not finite (1 of 2 are wrong); train the run again with a lower "
        "learning rate"
    )


def test_as_many_ids_as_vectors():
    check_ids("index", 2, ["A", "B"])
    with pytest.raises(RunError, match=r"^index: 3 vectors, but 2 article ids; give one id a vector$"):
        check_ids("index", 3, ["A", "B"])


def test_lengths_go_on_over_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 2)
    vectors = np.array([[3, 4], [0, 1], [5, 12]], dtype=np.float16)
    assert vector_lengths(vectors).tolist() == [5.0, 1.0, 13.0]
    assert not all_unit_length(vectors)
    assert all_unit_length(vectors[1:2])
