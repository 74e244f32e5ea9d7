import numpy as np
import pytest

from statgraph.config import Stage1Config
from statgraph.settings import limits_of
from statgraph.training.question_order import QuestionOrder, question_order

PAIRS = np.array([[0, 5], [0, 6], [1, 5], [2, 7], [3, 8], [3, 9]])


def test_the_easy_questions_come_first_and_in_the_last_epoch_all_by_hand():
    order = QuestionOrder(np.array([3, 1, 2, 1]))  # the questions 1, 3, 2, 0
    questions = [sorted(set(order.pairs_of(PAIRS, epoch, 3)[:, 0])) for epoch in (1, 2, 3)]
    assert questions == [[1, 3], [1, 2, 3], [0, 1, 2, 3]]
    assert order.pairs_of(PAIRS, 1, 3).tolist() == [[1, 5], [3, 8], [3, 9]]


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


@pytest.mark.parametrize(("name", "first"), [("lexical", [[1], [1, 2]]), ("labels", [[0], [0, 2]])])
def test_what_is_easy_by_hand(name, first):
    order = question_order(name, Gold(), Scores, 0)
    pairs = np.array([[0, 0], [1, 2], [1, 3], [2, 1]])
    assert [sorted(set(order.pairs_of(pairs, epoch, 3)[:, 0])) for epoch in (1, 2)] == first


def test_a_random_order_is_the_seeds():
    pairs = np.column_stack([np.arange(50), np.arange(50)])
    gold = Gold()
    gold.texts = ("text",) * 50
    drawn = [question_order("random", gold, None, seed).pairs_of(pairs, 1, 2)[:, 0].tolist() for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 25
    assert question_order("shuffled", gold, None, 0) is None


def test_every_order_that_can_be_set_is_there():
    orders = {
        name: question_order(name, Gold(), Scores, 0) for name in limits_of(Stage1Config, "question_order").choices
    }
    assert [name for name, order in orders.items() if order is None] == ["shuffled"]
    with pytest.raises(ValueError, match="'hard' is no order"):
        question_order("hard", Gold(), Scores, 0)
