from dataclasses import replace

import numpy as np
import pytest

from statgraph.config import Stage1Config
from statgraph.law.records import CitingText
from statgraph.training.pairs import (
    PairMix,
    answers_among,
    citing_pairs,
    easiest_pairs,
    endless,
    epoch_of,
    epoch_steps,
    gold_pairs,
    heading_pairs,
    question_order,
)

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


@pytest.mark.parametrize(("text", "rows"), HEADINGS.items())
def test_heading_pairs_by_hand(village, text, rows):
    drawn, answers = rows
    source = heading_pairs(village)
    assert drawn_of(source, text) == drawn
    assert source.answers_of(source.texts.index(text)).tolist() == answers


def test_citing_texts_ask_for_what_they_cite_unless_a_dev_question_stands_beside_them(village):
    ids = [article.article_id for article in village.articles]
    dev, train = village.split("dev")[0].question_id, village.split("train")[0].question_id
    citing = (
        CitingText("1", "Lamps", "Cost", (ids[4], ids[2]), train, "reference"),
        CitingText("2", "Lamps", "Whoever breaks a lamp pays for it within a month.", (ids[4],), "", "paragraph"),
        CitingText("3", "Lamps", "Cost", (ids[9],), "", "section"),
        CitingText("4", "Night", "Lamps are lit from dusk to dawn, all year round.", (ids[2],), dev, "paragraph"),
        CitingText("5", "All", "A list of everything that there is in this village.", tuple(ids * 2)[:21], "", ""),
    )
    source = citing_pairs(replace(village, citing=citing))
    assert source.texts[:2] == ("A list of everything that there is in this village.", "Cost")
    assert source.texts[2:] == ("Lamps : Cost", "Whoever breaks a lamp pays for it within a month.")
    assert [source.answers_of(row).tolist() for row in (1, 2, 3)] == [[2, 4, 9], [2, 4], [4]]
    assert drawn_of(source, "Lamps : Cost") == [2, 4]


def as_tuples(pairs: np.ndarray) -> list[tuple[int, int]]:
    return [tuple(pair) for pair in pairs.tolist()]


@pytest.mark.parametrize("size", [1, 5, 50])
def test_a_stream_repeats_none_before_all_have_come(village, size):
    source = heading_pairs(village)
    stream = endless(source.pairs, size, np.random.default_rng(0))
    drawn = [pair for _ in range(200 // size) for pair in as_tuples(next(stream))]
    assert len(drawn) == 200 // size * size
    for start in range(0, len(drawn), len(source.pairs)):
        turn = drawn[start : start + len(source.pairs)]
        assert len(set(turn)) == len(turn)
        assert set(turn) <= set(as_tuples(source.pairs))


def test_a_stream_of_nothing_is_refused(village):
    sources = {"headings": heading_pairs(village), "gold": gold_pairs(replace(village, questions=()))}
    with pytest.raises(ValueError, match="gold: has no pairs to draw from"):
        PairMix(sources, Stage1Config(batch_size=4, headings=1))


@pytest.mark.parametrize(
    ("size", "min_steps", "sizes"),
    [
        *((3, 0, [3, 3, 1]), (7, 0, [7]), (100, 0, [7]), (1, 0, [1] * 7), (3, 2, [3, 3, 1])),
        *((3, 4, [3, 3, 1, 3]), (3, 7, [3, 3, 1, 3, 3, 1, 3])),
    ],
)
def test_an_epoch_covers_each_pair_once_and_again_where_more_steps_are_wanted(village, size, min_steps, sizes):
    pairs = gold_pairs(village).pairs
    batches = list(epoch_of(pairs, size, np.random.default_rng(0), min_steps=min_steps))
    assert [len(batch) for batch in batches] == sizes
    assert epoch_steps(len(pairs), size, min_steps) == len(sizes)
    turn = -(-7 // size)
    for start in range(0, len(sizes) - turn + 1, turn):
        assert sorted(as_tuples(np.concatenate(batches[start : start + turn]))) == as_tuples(pairs)


def test_answers_among_agrees_with_sets(village):
    rng = np.random.default_rng(0)
    for source in (gold_pairs(village), heading_pairs(village)):
        text_rows = rng.integers(0, len(source.texts), 40)
        article_rows = rng.integers(0, 12, 30)  # unsorted, with doubles, as in a batch
        answers = answers_among(source, text_rows, article_rows)
        assert (answers.shape, answers.dtype) == ((40, 30), bool)
        for text_row, row in zip(text_rows, answers, strict=True):
            known = set(source.answers_of(text_row).tolist())
            assert row.tolist() == [article in known for article in article_rows.tolist()]


PAIRS = np.array([[0, 5], [0, 6], [1, 5], [2, 7], [3, 8], [3, 9]])


def test_the_easy_questions_come_first_and_in_the_last_epoch_all_by_hand():
    order = np.array([3, 0, 2, 1])  # the questions 1, 3, 2, 0
    questions = [sorted(set(easiest_pairs(PAIRS, order, epoch, 3)[:, 0])) for epoch in (1, 2, 3)]
    assert questions == [[1, 3], [1, 2, 3], [0, 1, 2, 3]]
    assert easiest_pairs(PAIRS, order, 1, 3).tolist() == [[1, 5], [3, 8], [3, 9]]


class Gold:
    """Three questions whose answers BM25 below puts third, first and second."""

    texts = ("a", "b", "c")
    answers = np.array([0, 2, 3, 1])
    offsets = np.array([0, 1, 3, 4])

    def answers_of(self, row: int) -> np.ndarray:
        return self.answers[self.offsets[row] : self.offsets[row + 1]]


class Scores:
    def scores(self, text: str) -> np.ndarray:
        return np.array({"a": [1, 2, 3, 0], "b": [0, 2, 1, 4], "c": [0, 2, 3, 2]}[text], dtype=np.float32)


@pytest.mark.parametrize(("name", "places"), [("lexical", [2, 0, 1]), ("labels", [0, 2, 1]), ("shuffled", None)])
def test_what_is_easy_by_hand(name, places):
    order = question_order(name, Gold(), Scores, 0)
    assert (order is None and places is None) or order.tolist() == places


def test_a_random_order_is_the_seeds():
    gold = Gold()
    gold.texts = ("text",) * 50
    orders = [question_order("random", gold, None, seed).tolist() for seed in (0, 0, 1)]
    assert orders[0] == orders[1] != orders[2]
    assert sorted(orders[0]) == list(range(50))
