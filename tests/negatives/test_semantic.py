import numpy as np

from statgraph.config import NegativesConfig
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.questions import training_questions
from statgraph.negatives.semantic import SemanticRanking
from statgraph.negatives.source import EpochVectors


def test_bm25_scores_are_negated(two_codes):
    bm25 = BM25([article.text for article in two_codes.articles], language="en")
    ranking = SemanticRanking(two_codes, training_questions(two_codes), NegativesConfig(semantic="bm25"), lambda: bm25)
    assert ranking.needs_vectors is False
    distances = ranking.distances(np.array([1, 0]), None)
    assert distances.tolist() == [(-bm25.scores("well")).tolist(), (-bm25.scores("lamp")).tolist()]
    assert distances[1].argmin() == 1  # three lamps


def test_dynamic_takes_the_inner_products_of_the_vectors_given(two_codes, no_bm25):
    ranking = SemanticRanking(two_codes, training_questions(two_codes), NegativesConfig(), no_bm25)
    assert ranking.needs_vectors is True
    vectors = EpochVectors(np.array([[1, 0], [2, -1]], dtype=np.float32), np.arange(14, dtype=np.float32).reshape(7, 2))
    distances = ranking.distances(np.array([0, 1]), vectors)
    assert distances.tolist() == [[0, -2, -4, -6, -8, -10, -12], [1, -1, -3, -5, -7, -9, -11]]
    assert ranking.distances(np.array([1]), vectors).tolist() == distances[1:].tolist()
