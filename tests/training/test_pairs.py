import numpy as np
import pytest

from statgraph.training.pairs import gold_pairs, heading_pairs

# Of each wording: the articles right under such a heading, and all below one.
HEADINGS = {
    "General rules": ([0, 1, 6, 7], [0, 1, 6, 7]),
    "Lamp Code General rules": ([0, 1], [0, 1]),
    "Well Code General rules": ([6, 7], [6, 7]),
    "Lighting": ([2, 3], [2, 3]),
    "Duties Lighting": ([2, 3], [2, 3]),
    "Breakage": ([4], [4]),
    "Duties Breakage": ([4], [4]),
    "Duties": ([5, 10], [2, 3, 4, 5, 10]),
    "Lamp Code Duties": ([5], [2, 3, 4, 5]),
    "Covers": ([8, 9], [8, 9, 10]),
    "Well Code Covers": ([8, 9], [8, 9, 10]),
    "Covers Duties": ([10], [10]),
    "Well Code": ([11], [6, 7, 8, 9, 10, 11]),
}


def drawn_of(source, text: str) -> list[int]:
    row = source.texts.index(text)
    return source.pairs[source.pairs[:, 0] == row, 1].tolist()


def test_gold_pairs_are_the_training_labels(village):
    source = gold_pairs(village)
    assert source.name == "gold"
    assert source.texts == tuple(question.text for question in village.split("train"))
    assert source.pairs.tolist() == [[0, 4], [0, 5], [1, 8], [2, 0], [2, 6], [3, 8], [3, 9]]
    assert [source.answers_of(row).tolist() for row in range(4)] == [[4, 5], [8], [0, 6], [8, 9]]
    assert (source.pairs.dtype, source.answers.dtype, source.offsets.dtype) == (np.int64,) * 3


def test_gold_pairs_of_another_split(village):
    source = gold_pairs(village, "dev")
    assert source.texts == ("when is the street lit", "the water smells bad")
    assert source.pairs.tolist() == [[0, 2], [1, 7], [1, 11]]


def test_gold_pairs_of_an_empty_split_are_none(village):
    source = gold_pairs(village, "nowhere")
    assert source.texts == ()
    assert source.pairs.shape == (0, 2)
    assert source.offsets.tolist() == [0]


def test_headings_are_worded_alone_and_with_their_parent(village):
    assert heading_pairs(village).texts == tuple(sorted(HEADINGS))


def test_a_heading_without_articles_of_its_own_asks_nothing(village):
    assert "Lamp Code" not in heading_pairs(village).texts


@pytest.mark.parametrize(("text", "rows"), HEADINGS.items())
def test_heading_pairs_by_hand(village, text, rows):
    drawn, answers = rows
    source = heading_pairs(village)
    assert drawn_of(source, text) == drawn
    assert source.answers_of(source.texts.index(text)).tolist() == answers


def test_every_drawn_article_is_an_answer(village):
    for source in (gold_pairs(village), heading_pairs(village)):
        assert all(row in source.answers_of(text_row) for text_row, row in source.pairs)
