import numpy as np
import pytest

from statgraph.errors import CorpusError
from statgraph.training.negatives.source import drawn_rows, training_questions

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
