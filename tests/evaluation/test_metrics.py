import math

import numpy as np
import pytest

from statgraph.evaluation.metrics import METRICS, average_precision, ndcg, r_precision, recall, reciprocal_rank

# Relevant articles at places 2, 3 and 6; a fourth is not found.
FOUND = np.array([False, True, True, False, False, True])


def test_recall_counts_the_found_among_all_relevant():
    assert recall(FOUND, 4, cut=1) == 0.0
    assert recall(FOUND, 4, cut=3) == 2 / 4
    assert recall(FOUND, 4, cut=100) == 3 / 4


def test_average_precision_gives_nothing_for_an_article_that_is_not_found():
    assert average_precision(FOUND, 4) == pytest.approx((1 / 2 + 2 / 3 + 3 / 6 + 0) / 4)


def test_r_precision_looks_as_deep_as_there_are_relevant_articles():
    assert r_precision(FOUND, 4) == 2 / 4
    assert r_precision(FOUND, 2) == 1 / 2


def test_ndcg_discounts_by_the_logarithm_of_the_place():
    gain = 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert ndcg(FOUND, 4, cut=10) == pytest.approx(gain / ideal)


def test_ndcg_asks_no_more_than_the_cut_can_hold():
    ideal = 1 + 1 / math.log2(3)
    assert ndcg(FOUND, 4, cut=2) == pytest.approx((1 / math.log2(3)) / ideal)
    assert ndcg(np.ones(20, dtype=bool), 20, cut=10) == pytest.approx(1.0)


def test_reciprocal_rank_is_that_of_the_first_within_the_cut():
    assert reciprocal_rank(FOUND, 4, cut=10) == 1 / 2
    assert reciprocal_rank(FOUND, 4, cut=1) == 0.0


@pytest.mark.parametrize("name", METRICS)
def test_an_empty_ranking_scores_zero(name):
    assert METRICS[name](np.empty(0, dtype=bool), 3) == 0.0


@pytest.mark.parametrize("name", METRICS)
def test_an_ideal_ranking_scores_one(name):
    assert METRICS[name](np.array([True, True, False]), 2) == pytest.approx(1.0)
