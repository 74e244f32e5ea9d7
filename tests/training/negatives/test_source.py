from collections import Counter

import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.errors import CorpusError
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.training.negatives.source import Bm25Negatives, drawn_rows, training_questions

PLACES = [(("A",), order) for order in range(3)]


def test_answers_are_sorted_and_the_rest_is_wrong(corpus_of):
    questions = training_questions(corpus_of(PLACES, [[2, 0], [1]], questions=["first", "second"]))
    assert questions.texts == ("first", "second")
    assert [rows.tolist() for rows in questions.answers] == [[0, 2], [1]]
    assert questions.answers[0].dtype == np.int64
    assert [questions.wrong_rows(row).tolist() for row in (0, 1)] == [[1], [0, 2]]
    assert questions.wrong_rows(0).dtype == np.int64


def test_questions_without_a_negative_or_an_answer_are_refused_together(corpus_of):
    with pytest.raises(CorpusError, match=r"'q0' is answered by 3 of 3 articles(.|\n)*'q2' is answered by 0 of 3"):
        training_questions(corpus_of(PLACES, [[0, 1, 2], [1], []]))


POOLS = [np.array([10, 11]), np.array([20]), np.array([30, 31, 32, 33])]


@pytest.mark.parametrize(
    ("pool_uniform", "row_uniform", "row"),
    [(0.0, 0.0, 10), (0.0, 0.5, 11), (0.49, 0.99, 11), (0.5, 0.0, 30), (0.99, 0.74, 32), (0.99, 0.75, 33)],
)
def test_the_first_number_picks_the_pool_and_the_second_the_row(pool_uniform, row_uniform, row):
    assert drawn_rows(POOLS, (0.5, 0.0, 0.5), np.array([[pool_uniform, row_uniform]])) == [row]


def test_a_row_that_is_taken_gives_its_place_to_the_last():
    # 30 goes, 33 takes its place; 33 goes, 32 takes its place; then 32 and 31 are left.
    zeros = np.zeros((4, 2))
    assert drawn_rows([POOLS[2]], (1.0,), zeros) == [30, 33, 32, 31]


def test_a_used_up_pool_leaves_its_share_to_the_others_in_proportion():
    # Pool 1 goes first. Of the shares 0.2 and 0.6 that are left, 0.24 of the whole is below a quarter and 0.26 above.
    assert drawn_rows(POOLS, (0.2, 0.2, 0.6), np.array([[0.3, 0], [0.24, 0], [0.26, 0]])) == [20, 10, 30]


def test_the_last_pool_with_rows_steps_in_where_none_has_a_share():
    assert drawn_rows(POOLS, (0.0, 1.0, 0.0), np.zeros((3, 2))) == [20, 30, 33]
    assert drawn_rows(POOLS[:2], (0.0, 1.0), np.zeros((3, 2))) == [20, 10, 11]


def test_everything_comes_once_before_anything_comes_again():
    drawn = drawn_rows(POOLS, (0.7, 0.2, 0.1), np.random.default_rng(0).random((17, 2)))
    everything = [10, 11, 20, 30, 31, 32, 33]
    assert sorted(drawn[:7]) == sorted(drawn[7:14]) == everything
    assert len(set(drawn[14:])) == 3


@pytest.fixture
def bm25_of():
    """Return a function that builds BM25 over a corpus' texts when called."""
    return lambda corpus: lambda: BM25([article.text for article in corpus.articles], language="en")


def drawn(source: Bm25Negatives, question_row: int, count: int, per_pair: int = 1) -> Counter:
    rows = source.draw(np.full(count, question_row), per_pair, np.random.default_rng(0))
    assert rows.shape == (count, per_pair)
    assert rows.dtype == np.int64
    return Counter(rows.ravel().tolist())


def test_only_the_best_that_do_not_answer_are_drawn_equally_often(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=2), bm25=bm25_of(two_codes))
    assert source.needs_vectors is False
    source.begin_epoch(1, 1, None)
    # "lamp": a1 (three times, the answer), a6 (twice), then a0, whose one term makes it shorter than a4.
    counts = drawn(source, 0, 10_000)
    assert set(counts) == {0, 6}
    assert counts[0] / 10_000 == pytest.approx(0.5, abs=0.02)
    # "well": a4 alone has it beside the answer a3; of those that score 0, a0 comes first by row.
    assert set(drawn(source, 1, 1_000)) == {0, 4}


def test_a_corpus_smaller_than_the_depth_gives_all_that_do_not_answer(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=50), bm25=bm25_of(two_codes))
    assert set(drawn(source, 1, 1_000)) == {0, 1, 2, 4, 6}


def test_no_row_holds_one_twice_where_there_are_enough(two_codes, bm25_of):
    source = Bm25Negatives(two_codes, NegativesConfig(depth=3), bm25=bm25_of(two_codes))
    rows = source.draw(np.array([0, 1] * 100), 3, np.random.default_rng(0))
    assert {len(set(row)) for row in rows.tolist()} == {3}
    assert set(drawn(source, 0, 10, per_pair=7).values()) <= set(range(20, 31))  # 3 candidates, 2 or 3 times a row
