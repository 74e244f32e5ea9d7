import numpy as np
import pytest

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import UsageError


@pytest.mark.parametrize("rows", [[4, 0, 4, 2], np.array([2, 0, 4], dtype=np.uint8)])
def test_checked_rows_rise_and_occur_once(rows):
    allowed = AllowedRows.checked(rows, 5)
    assert (allowed.rows.tolist(), allowed.rows.dtype, len(allowed)) == ([0, 2, 4], np.int64, 3)
    assert allowed.mask.tolist() == [True, False, True, False, True]
    assert allowed.key == AllowedRows.of_mask(allowed.mask).key


def test_no_rows_are_a_limit_too():
    assert AllowedRows.checked([], 5).rows.tolist() == []
    assert AllowedRows.checked([], 0).rows.dtype == np.int64


def test_rows_in_both():
    some = AllowedRows.checked([0, 2, 4], 5)
    assert (some & AllowedRows.checked([1, 2, 4], 5)).rows.tolist() == [2, 4]
    assert some & None is some


@pytest.mark.parametrize(
    ("rows", "keyword"),
    [
        ([True, False], r"bool of shape \(2,\).*flatnonzero"),
        ([0.0, 1.0], "float64"),
        ([[0, 1]], r"shape \(1, 2\)"),
        (3, r"shape \(\)"),
        ([0, 5], "row 5"),
        ([-1, 7], "row -1"),
    ],
)
def test_anything_but_article_rows_is_refused(rows, keyword):
    with pytest.raises(UsageError, match=f"^among: .*{keyword}"):
        AllowedRows.checked(rows, 5)
