"""Articles by where they stand: equal titles in two codes, headings that come back, an unknown name."""

from types import SimpleNamespace

import pytest

from statgraph.corpus.tree import tree_of
from statgraph.errors import UsageError
from statgraph.search.filters import ArticleFilter

PATHS = [
    ("C", "I"), ("C", "I", "1"), ("C", "II"), ("C", "I"), ("D", "I"), ("C", "II", "1"), ("D",),
]  # fmt: skip


@pytest.fixture
def articles():
    return ArticleFilter(tree_of(tuple(SimpleNamespace(path=path) for path in PATHS)))


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
def test_rows_under_a_heading(articles, codes, heading, rows):
    found = articles.rows(codes=codes, heading=heading)
    assert found.rows.tolist() == rows


def test_every_heading_holds_what_its_path_begins(articles):
    for heading in {path[:depth] for path in PATHS for depth in (1, 2, 3) if len(path) >= depth}:
        expected = [row for row, path in enumerate(PATHS) if path[: len(heading)] == heading]
        assert articles.rows(heading=heading).rows.tolist() == expected


def test_no_limit_is_none(articles):
    assert articles.rows() is None


def test_an_unknown_code_is_refused_with_those_there_are(articles):
    with pytest.raises(UsageError, match=r"^code 'I': not among the articles; choose from C, D$"):
        articles.rows(codes=["C", "I"])


def test_of_many_codes_ten_are_named():
    many = ArticleFilter(tree_of(tuple(SimpleNamespace(path=(f"C{row}",)) for row in range(12))))
    with pytest.raises(UsageError, match=r"choose from C0, .*, C9 and 2 more$"):
        many.rows(codes=["D"])


def test_an_unknown_heading_is_refused(articles):
    with pytest.raises(UsageError, match="heading 'D > II'"):
        articles.rows(heading=("D", "II"))


def test_headings_of_the_title_that_was_typed_are_named(articles):
    with pytest.raises(UsageError, match=r"heading 'i': .*; did you mean 'C > I' or 'D > I'\?$"):
        articles.rows(heading=("i",))
