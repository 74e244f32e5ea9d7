import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.negatives.questions import training_questions
from statgraph.negatives.sequential import SequentialRanking


def distances_of(corpus) -> np.ndarray:
    questions = training_questions(corpus)
    ranking = SequentialRanking(corpus, questions, NegativesConfig(), None)
    assert ranking.needs_vectors is False
    return ranking.distances(np.arange(len(questions.texts)), None)


def test_distance_in_order_to_the_nearest_answer_of_the_code(two_codes):
    # Orders go from 1 to 5, so another code is 5 away. q1 has an answer in either code.
    assert distances_of(two_codes).tolist() == [[1, 0, 1, 2, 3, 5, 5], [3, 2, 1, 0, 1, 0, 1]]


def test_orders_with_gaps_and_articles_in_any_order(corpus_of):
    places = [(("A",), 900), (("B",), -5), (("A",), 10), (("B",), 40), (("A",), 100), (("C",), 100)]
    # From -5 to 900: another code is 906 away.
    assert distances_of(corpus_of(places, [[4], [1, 0]])).tolist() == [
        [800, 906, 90, 906, 0, 906],
        [0, 0, 890, 45, 800, 906],
    ]


@pytest.mark.parametrize("seed", range(10))
def test_distances_are_those_of_the_definition(corpus_of, seed):
    rng = np.random.default_rng(seed)
    places = [((f"code {rng.integers(4)}",), int(rng.integers(-50, 50))) for _ in range(40)]
    answers = [rng.choice(40, int(rng.integers(1, 12)), replace=False).tolist() for _ in range(4)]
    farthest = max(order for _, order in places) - min(order for _, order in places) + 1
    expected = [
        [
            min([abs(order - places[row][1]) for row in rows if places[row][0] == code], default=farthest)
            for code, order in places
        ]
        for rows in answers
    ]
    assert distances_of(corpus_of(places, answers)).tolist() == expected
