"""What lint says of prose: `tests.words`."""

import pytest

from tests.words import offences, prose_offences


def test_a_phrase_is_listed_with_its_line_but_not_in_a_block():
    assert offences("Fine.\n```\nanew\n```\nTrain it anew.\n") == [(5, "anew", "again")]


@pytest.mark.parametrize(
    ("page", "place"),
    [
        ("Fine.\n\nIt was faster at a6eb7222.\n", (3, "a6eb7222", "no ids of commits in prose")),
        ("word " * 31 + ".", (1, "word word word word word word ...", "sentences of at most 30 words")),
        ("1 2 3 4 5 6 and 7.", (1, "1 2 3 4 5 6 ...", "a table for more than 6 figures")),
    ],
)
def test_a_page_does_not_read_as_a_notebook(page, place):
    assert prose_offences(page) == [place]


@pytest.mark.parametrize(
    "page",
    [
        "```\nstatgraph a6eb7222\n```\n",
        "| 1 | 2 | 3 | 4 | 5 | 6 | 7 |\n",
        "<!-- tables: begin -->\nAt a6eb7222.\n<!-- tables: end -->\n",
        "It gains [R@100 +1 [+2, +3], +4 [+5, +6]](results/ranking.md) on law 7.\n",
        "- " + "word " * 20 + "\n- " + "word " * 20,
    ],
)
def test_what_is_no_prose_is_left_alone(page):
    assert prose_offences(page) == []
