import numpy as np
import pytest

from statgraph.config import NegativesConfig
from statgraph.corpus.sample import sample_folder
from statgraph.corpus.store import read_corpus
from statgraph.negatives.hierarchical import HierarchicalRanking
from statgraph.negatives.questions import training_questions


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


def test_equal_titles_in_two_codes_are_two_headings(corpus_of):
    corpus = corpus_of([(("A", "General"), 1), (("B", "General"), 1), (("A", "Special"), 2)], [[0]])
    assert distances_of(corpus).tolist() == [[0, 8, 4]]


def test_paths_on_the_sample_are_those_of_networkx(tree_distances):
    corpus = read_corpus(sample_folder())
    questions = training_questions(corpus)
    assert len({article.code for article in corpus.articles}) > 1
    assert distances_of(corpus).tolist() == tree_distances(corpus, questions)


@pytest.mark.parametrize("seed", range(20))
def test_paths_on_random_trees_are_those_of_networkx(corpus_of, tree_distances, seed):
    corpus = random_corpus(corpus_of, seed)
    assert distances_of(corpus).tolist() == tree_distances(corpus, training_questions(corpus))


def test_rows_are_those_of_the_questions_asked_for(two_codes):
    ranking = HierarchicalRanking(two_codes, training_questions(two_codes), NegativesConfig(), None)
    both = ranking.distances(np.array([1, 0, 1]), None)
    assert both.tolist() == distances_of(two_codes)[[1, 0, 1]].tolist()
    assert ranking.needs_vectors is False
