import numpy as np
import pytest

from statgraph.errors import CorpusError
from statgraph.negatives.questions import training_questions

PLACES = [(("A",), order) for order in range(3)]


def test_answers_are_sorted_and_the_rest_is_wrong(corpus_of):
    questions = training_questions(corpus_of(PLACES, [[2, 0], [1]], questions=["first", "second"]))
    assert questions.texts == ("first", "second")
    assert [rows.tolist() for rows in questions.answers] == [[0, 2], [1]]
    assert questions.answers[0].dtype == np.int64
    assert [questions.wrong_rows(row).tolist() for row in (0, 1)] == [[1], [0, 2]]
    assert questions.wrong_rows(0).dtype == np.int64


def test_other_splits_are_left_out(town_corpus):
    assert len(training_questions(town_corpus).texts) == len(town_corpus.split("train")) == 8


def test_questions_without_a_negative_or_an_answer_are_refused_together(corpus_of):
    with pytest.raises(CorpusError) as refused:
        training_questions(corpus_of(PLACES, [[0, 1, 2], [1], []]))
    remedy = "hard negatives need an answer and an article that is none, so change its labels or set negatives to none"
    assert refused.value.problems == (
        f"two codes: question 'q0' is answered by 3 of 3 articles; {remedy}",
        f"two codes: question 'q2' is answered by 0 of 3 articles; {remedy}",
    )
