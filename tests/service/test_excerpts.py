"""The part of a long text around its passage."""

import pytest

from statgraph.service.excerpts import Excerpt, excerpt


@pytest.mark.parametrize(
    ("passage", "text", "place"),
    [
        ((0, 3), "0123456789", (0, 3)),
        ((47, 49), "3456789012", (4, 6)),  # 43 to 53
        ((98, 100), "0123456789", (8, 10)),
        ((20, 30), "0123456789", (0, 10)),
    ],
)
def test_a_long_text_is_shown_around_its_passage(passage, text, place):
    assert excerpt("0123456789" * 10, passage, most=10) == Excerpt(text, place)


def test_without_a_passage_it_is_the_beginning():
    assert excerpt("Keys are due.", None, most=5) == Excerpt("Keys ", None)
    assert excerpt("", None, most=5) == Excerpt("", None)
