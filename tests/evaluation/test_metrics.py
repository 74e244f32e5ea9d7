import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, Rprec, nDCG

from statgraph.evaluation.metrics import (
    METRICS,
    aggregate,
    average_precision,
    ndcg,
    question_metrics,
    r_precision,
    recall,
    reciprocal_rank,
)

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


PEERS = {
    "R@100": R @ 100,
    "R@200": R @ 200,
    "R@500": R @ 500,
    "mAP": AP,
    "mRP": Rprec,
    "nDCG@10": nDCG @ 10,
    "MRR@10": RR @ 10,
}


def test_metrics_of_two_questions_and_their_means():
    metrics = question_metrics([np.array([7, 3, 5]), np.array([1, 2, 9])], [[3], [1, 4]])
    assert len(metrics) == 2
    assert metrics["R@100"].tolist() == [1.0, 0.5]
    assert metrics["mAP"].tolist() == [1 / 2, 1 / 2]
    assert metrics["mRP"].tolist() == [0.0, 0.5]
    assert metrics["MRR@10"].tolist() == [0.5, 1.0]
    means = aggregate(metrics)
    assert means["R@100"] == 0.75
    assert means["mRP"] == 0.25
    assert list(means) == ["R@100", "R@200", "R@500", "mAP", "mRP", "nDCG@10", "MRR@10"]


def test_every_question_weighs_the_same_whatever_its_number_of_articles():
    metrics = question_metrics([np.array([0]), np.array([0])], [[0], [0, 1, 2, 3]])
    assert aggregate(metrics)["R@100"] == (1 + 1 / 4) / 2


def test_where_keeps_the_questions_of_the_mask():
    metrics = question_metrics([np.array([0]), np.array([1])], [[0], [0]])
    assert metrics.where(np.array([False, True]))["mAP"].tolist() == [0.0]


def test_a_label_given_twice_counts_once():
    metrics = question_metrics([np.array([4, 5])], [[4, 4]])
    assert metrics["R@100"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("rankings", "labels", "message"),
    [
        ([np.array([1])], [], "1 rankings, but 0 questions"),
        ([np.array([1])], [[]], "question 0: has no relevant article"),
        ([np.array([1, 1])], [[1]], "question 0: .* twice"),
    ],
)
def test_input_without_meaning_is_refused(rankings, labels, message):
    with pytest.raises(ValueError, match=message):
        question_metrics(rankings, labels)


def test_no_question_has_no_mean():
    with pytest.raises(ValueError, match="no questions"):
        aggregate(question_metrics([], []))


@pytest.mark.parametrize("depth", [7, 150, 600])
def test_agrees_with_ir_measures_on_random_rankings(depth):
    rng = np.random.default_rng(depth)
    rankings = [rng.permutation(900)[:depth] for _ in range(40)]
    labels = [rng.choice(900, size=rng.integers(1, 40), replace=False).tolist() for _ in rankings]
    run = [
        ir_measures.ScoredDoc(str(question), str(row), float(-place))
        for question, ranking in enumerate(rankings)
        for place, row in enumerate(ranking)
    ]
    qrels = [ir_measures.Qrel(str(question), str(row), 1) for question, rows in enumerate(labels) for row in rows]
    ours = question_metrics(rankings, labels)
    name_of = {measure: name for name, measure in PEERS.items()}
    compared = 0
    for theirs in ir_measures.iter_calc(list(PEERS.values()), qrels, run):
        assert ours[name_of[theirs.measure]][int(theirs.query_id)] == pytest.approx(theirs.value, abs=1e-9)
        compared += 1
    assert compared == len(rankings) * len(METRICS)


@given(
    found=st.lists(st.booleans(), max_size=30).map(lambda places: np.array(places, dtype=bool)),
    missed=st.integers(0, 3),
)
def test_better_places_never_score_less(found, missed):
    n_relevant = max(int(found.sum()) + missed, 1)
    for metric in METRICS.values():
        values = [metric(places, n_relevant) for places in (np.sort(found), found, np.sort(found)[::-1])]
        assert 0 <= values[0] <= values[1] + 1e-12 <= values[2] + 2e-12 <= 1 + 3e-12
