import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.training.negatives.rankings import HierarchicalRanking, SemanticRanking, SequentialRanking
from statgraph.training.negatives.source import EpochVectors, training_questions


def test_dynamic_takes_the_inner_products_of_the_vectors_given(two_codes, no_bm25):
    ranking = SemanticRanking(two_codes, training_questions(two_codes), NegativesConfig(), no_bm25)
    assert ranking.needs_vectors is True
    vectors = EpochVectors(np.array([[1, 0], [2, -1]], dtype=np.float32), np.arange(14, dtype=np.float32).reshape(7, 2))
    distances = ranking.distances(np.array([0, 1]), vectors)
    assert distances.tolist() == [[0, -2, -4, -6, -8, -10, -12], [1, -1, -3, -5, -7, -9, -11]]
    assert ranking.distances(np.array([1]), vectors).tolist() == distances[1:].tolist()


def distances_of(corpus) -> np.ndarray:
    questions = training_questions(corpus)
    ranking = HierarchicalRanking(corpus, questions, NegativesConfig(), None)
    return ranking.distances(np.arange(len(questions.texts)), None)


def random_corpus(corpus_of, seed: int):
    rng = np.random.default_rng(seed)
    n_articles = int(rng.integers(2, 60))
    places = [
        ((f"code {rng.integers(3)}", *(f"h{rng.integers(2)}" for _ in range(rng.integers(0, 6)))), order)
        for order in range(n_articles)
    ]
    answers = [rng.choice(n_articles, int(rng.integers(1, min(n_articles, 12))), replace=False) for _ in range(6)]
    return corpus_of(places, answers)


def test_path_lengths(two_codes):
    # The tree is three levels deep, so codes hang from the root by 3. On the way from a5: B/I 1, B 2, root 5, A 8,
    # A/I 9, a1 10.
    assert distances_of(two_codes).tolist() == [[2, 0, 3, 4, 3, 10, 10], [4, 4, 5, 0, 3, 0, 2]]


def test_a_path_to_another_code_is_longer_than_any_within_one(corpus_of):
    deep = ("A", "1", "2", "3")
    corpus = corpus_of([((*deep, "4"), 1), (("A", "other", "2", "3", "4"), 2), (("A",), 3), (("B",), 1)], [[0], [2]])
    # Within A the longest has 5 edges up and 5 down; out of it there are 1 + 5 up and 5 + 1 down at least.
    assert distances_of(corpus).tolist() == [[0, 10, 6, 16], [6, 6, 0, 12]]


@pytest.mark.parametrize("seed", range(20))
def test_paths_on_random_trees_are_those_of_networkx(corpus_of, tree_distances, seed):
    corpus = random_corpus(corpus_of, seed)
    assert distances_of(corpus).tolist() == tree_distances(corpus, training_questions(corpus))


def distances_in_order(corpus) -> np.ndarray:
    questions = training_questions(corpus)
    ranking = SequentialRanking(corpus, questions, NegativesConfig(), None)
    assert ranking.needs_vectors is False
    return ranking.distances(np.arange(len(questions.texts)), None)


def test_distance_in_order_to_the_nearest_answer_of_the_code(two_codes):
    # Orders go from 1 to 5, so another code is 5 away. q1 has an answer in either code.
    assert distances_in_order(two_codes).tolist() == [[1, 0, 1, 2, 3, 5, 5], [3, 2, 1, 0, 1, 0, 1]]


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
    assert distances_in_order(corpus_of(places, answers)).tolist() == expected
