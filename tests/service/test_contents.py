"""The table of contents of the village, by hand."""

import hashlib

import pytest

from statgraph.service.contents import ArticleOutline, Contents, heading_id_of

HOUSING, WORK = ("Housing Code",), ("Work Code",)
LEASES, WAGES = (*HOUSING, "Book I. Leases"), (*WORK, "Book I. Leases")
KEYS = (*LEASES, "Chapter 1. Keys")


@pytest.fixture
def contents(village):
    return Contents(ArticleOutline(article.article_id, article.title, article.path) for article in village.articles)


def rows(contents, *paths):
    return [contents.headings.index(path) for path in paths]


def test_an_id_is_of_the_whole_path():
    expected = hashlib.sha256(b"Work Code\x1fBook I. Leases").hexdigest()[:12]
    assert heading_id_of(WAGES) == expected != heading_id_of(LEASES)


def test_headings_stand_after_their_parents(contents):
    assert contents.headings == (HOUSING, LEASES, KEYS, WORK, WAGES)
    assert [contents.heading_rows.get(heading_id) for heading_id in contents.heading_ids] == [0, 1, 2, 3, 4]
    assert contents.heading_rows.get("0" * 12) is None


def test_before_and_after_within_a_code(contents):
    assert [contents.beside(row) for row in range(5)] == [(None, 1), (0, 2), (1, None), (None, 4), (3, None)]


def test_one_path_object_for_the_articles_of_a_heading(contents):
    assert contents.outlines[0].path is contents.outlines[1].path


def test_headings_apart_from_one_another_are_one():
    outlines = [ArticleOutline(str(row), "", ("C", part)) for row, part in enumerate("ABA")]
    contents = Contents(outlines)
    assert contents.headings == (("C",), ("C", "A"), ("C", "B"))
    assert contents.child_articles[1] == [0, 2]
