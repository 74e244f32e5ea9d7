import numpy as np
import pytest

from statgraph.corpus.among import checked_among
from statgraph.errors import UsageError


@pytest.mark.parametrize("among", [[4, 0, 4, 2], np.array([2, 0, 4], dtype=np.uint8)])
def test_rows_come_back_rising_and_once(among):
    rows = checked_among(among, 5)
    assert (rows.tolist(), rows.dtype) == ([0, 2, 4], np.int64)


def test_no_row_is_a_limit_too():
    assert checked_among([], 5).tolist() == []
    assert checked_among([], 0).dtype == np.int64


@pytest.mark.parametrize(
    ("among", "message"),
    [
        ([True, False], "among: bool of shape (2,); give article rows, whole numbers in one dimension (np.flatnonzero"),
        ([0.0, 1.0], "among: float64 of shape (2,); give "),
        ([[0, 1]], "among: int64 of shape (1, 2); give "),
        (3, "among: int64 of shape (); give "),
        ([0, 5], "among: row 5, but there are 5 articles; give rows 0 to 4"),
        ([-1, 7], "among: row -1, but there are 5 articles; give rows 0 to 4"),
    ],
)
def test_what_is_no_list_of_rows_is_refused(among, message):
    with pytest.raises(UsageError) as refused:
        checked_among(among, 5)
    assert str(refused.value).startswith(message)
