"""A small corpus whose counts can be told by hand."""

from __future__ import annotations

import pytest

from statgraph.law.records import Article, Corpus, Question


@pytest.fixture
def two_codes() -> Corpus:
    """Return four articles of 1, 2, 3 and 8 words in two codes, under 2, 3, 3 and 1 headings, and three questions."""
    articles = (
        Article("a", "Art. a", "One.", ("Code A", "Book I"), 1),
        Article("b", "Art. b", "One two.", ("Code A", "Book II", "Title <1>"), 2),
        Article("c", "Art. c", "One two three.", ("Code A", "Book II", "Title <1>"), 3),
        Article("d", "Art. d", "1 2 3 4 5 6 7 8", ("Code B",), 1),
    )
    questions = (
        Question("q1", "One?", "train", ("a",)),
        Question("q2", "Two?", "train", ("a", "b")),
        Question("q3", "Three?", "test", ("a", "b", "c", "d")),
    )
    return Corpus("two", "en", "CC0", "by hand", articles, questions)
