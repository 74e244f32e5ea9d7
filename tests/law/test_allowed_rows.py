from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.errors import UsageError
from statgraph.law.allowed_rows import ANYWHERE, AllowedRows, Where, placed_rows
from statgraph.law.tree import tree_of


@pytest.mark.parametrize("rows", [[4, 0, 4, 2], np.array([2, 0, 4], dtype=np.uint8)])
def test_checked_rows_rise_and_occur_once(rows):
    allowed = AllowedRows.checked(rows, 5)
    assert (allowed.rows.tolist(), allowed.rows.dtype, len(allowed)) == ([0, 2, 4], np.int64, 3)
    assert allowed.mask.tolist() == [True, False, True, False, True]


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


PATHS = [
    ("C", "I"), ("C", "I", "1"), ("C", "II"), ("C", "I"), ("D", "I"), ("C", "II", "1"), ("D",),
]  # fmt: skip


@pytest.fixture
def tree():
    """Return a tree with equal titles in two codes, and headings that come back."""
    return tree_of(SimpleNamespace(path=path) for path in PATHS)


@pytest.mark.parametrize(
    ("codes", "heading", "rows"),
    [
        (["C"], (), [0, 1, 2, 3, 5]),
        (["D"], (), [4, 6]),
        (["D", "C"], (), [0, 1, 2, 3, 4, 5, 6]),
        ([], ("C", "I"), [0, 1, 3]),
        ([], ("C", "I", "1"), [1]),
        ([], ("D", "I"), [4]),
        ([], ["C"], [0, 1, 2, 3, 5]),
        (["D"], ("C", "I"), []),
        (["C", "D"], ("C", "II"), [2, 5]),
    ],
)
def test_rows_under_a_heading(tree, codes, heading, rows):
    found = placed_rows(tree, codes=codes, heading=heading)
    assert found.rows.tolist() == rows


def test_a_code_and_a_heading_are_found_in_another_spelling():
    tree = tree_of(SimpleNamespace(path=path) for path in [("Code\u00a0pénal", "Livre 1"), ("Code civil",)])
    found = placed_rows(tree, codes=["Code pe\u0301nal"], heading=("Code pénal", "Livre\u00a01"))
    assert found.rows.tolist() == [0]
    assert found.where == Where(codes=("Code\u00a0pénal",), heading=("Code\u00a0pénal", "Livre 1"))


def test_an_unknown_code_is_refused_with_those_there_are(tree):
    with pytest.raises(UsageError, match=r"^code 'I': not among the articles; choose from C, D$"):
        placed_rows(tree, codes=["C", "I"])


def test_an_unknown_heading_is_refused(tree):
    with pytest.raises(UsageError, match="heading 'D > II'"):
        placed_rows(tree, heading=("D", "II"))


def test_headings_of_the_title_that_was_typed_are_named(tree):
    with pytest.raises(UsageError, match=r"heading 'i': .*; did you mean 'C > I' or 'D > I'\?$"):
        placed_rows(tree, heading=("i",))
    tree = tree_of([SimpleNamespace(path=("C", "Book II. Dogs"))])
    with pytest.raises(UsageError, match=r"heading 'C > book ii': .*; did you mean 'C > Book II\. Dogs'\?$"):
        placed_rows(tree, heading=("C", "book ii"))


def test_conditions_on_other_columns_are_one():
    of_code, on_day = Where(codes=("Rent Code",)), Where(day=738_000)
    assert of_code & on_day == Where(codes=("Rent Code",), day=738_000)
    assert of_code & ANYWHERE == of_code


def test_two_conditions_on_one_column_are_not():
    assert Where(day=1) & Where(day=2) is None
    assert Where(ids=()) & Where(ids=("a",)) is None
