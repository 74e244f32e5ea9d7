import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, RR, R, Rprec, Success, nDCG

from statgraph.config import LAST, SELECTORS
from statgraph.evaluation.metrics import (
    METRICS,
    QUALITY,
    aggregate,
    article_means,
    average_precision,
    choice_key,
    deciding_metric,
    left_out,
    ndcg,
    quality,
    quality_cut,
    question_metrics,
    r_precision,
    ranking_quality,
    recall,
    reciprocal_rank,
    success,
)

MANY = 100_000  # articles, so many that no metric is left out

# Relevant articles at places 2, 3 and 6; a fourth is not found.
FOUND = np.array([False, True, True, False, False, True])


@pytest.mark.parametrize(
    ("metric", "n_relevant", "options", "value"),
    [
        (recall, 4, {"cut": 1}, 0.0),
        (recall, 4, {"cut": 3}, 2 / 4),
        (recall, 4, {"cut": 100}, 3 / 4),
        (success, 4, {"cut": 1}, 0.0),
        (success, 4, {"cut": 2}, 1.0),
        (average_precision, 4, {}, (1 / 2 + 2 / 3 + 3 / 6 + 0) / 4),
        (r_precision, 4, {}, 2 / 4),
        (r_precision, 2, {}, 1 / 2),
        (reciprocal_rank, 4, {"cut": 10}, 1 / 2),
        (reciprocal_rank, 4, {"cut": 1}, 0.0),
        (quality, 4, {"cut": 3}, ((1 / 2 + 2 / 3 + 3 / 6) / 4 + 2 / 4) / 2),
    ],
)
def test_metrics_of_one_ranking_by_hand(metric, n_relevant, options, value):
    assert metric(FOUND, n_relevant, **options) == pytest.approx(value)


def test_ndcg_discounts_by_the_logarithm_of_the_place_and_asks_no_more_than_the_cut_can_hold():
    gain = 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(7)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4) + 1 / math.log2(5)
    assert ndcg(FOUND, 4, cut=10) == pytest.approx(gain / ideal)
    assert ndcg(FOUND, 4, cut=2) == pytest.approx((1 / math.log2(3)) / (1 + 1 / math.log2(3)))
    assert ndcg(np.ones(20, dtype=bool), 20, cut=10) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("n_articles", "cut"), [(12, 5), (321, 5), (600, 6), (29_115, 291), (50_000, 500), (10**6, 500)]
)
def test_quality_recalls_at_one_percent_within_limits(n_articles, cut):
    assert quality_cut(n_articles) == cut


@pytest.mark.parametrize(
    ("n_articles", "names"),
    [
        (2501, []),
        (2500, ["R@500"]),
        (321, ["R@100", "R@200", "R@500"]),
        (50, ["R@10", "R@100", "R@200", "R@500"]),
        (16, ["R@5", "R@10", "R@100", "R@200", "R@500"]),
        (15, ["R@3", "R@5", "R@10", "R@100", "R@200", "R@500", "S@3"]),
        (5, ["R@1", "R@3", "R@5", "R@10", "R@100", "R@200", "R@500", "S@1", "S@3"]),
    ],
)
def test_a_cut_of_a_fifth_of_the_articles_is_left_out(n_articles, names):
    assert list(left_out(n_articles)) == names
    measured = question_metrics([np.array([0])], [[0]], n_articles)
    assert list(measured.values) == [name for name in METRICS if name not in names]


def test_quality_decides_where_a_corpus_is_too_small_for_what_is_asked():
    assert (deciding_metric("R@200", 1001), deciding_metric("R@200", 1000)) == ("R@200", QUALITY)
    assert deciding_metric("mAP", 5) == "mAP"
    assert deciding_metric(LAST, 5) == QUALITY
    assert set(SELECTORS) - {LAST} <= set(METRICS)


def test_rankers_are_chosen_by_first_hits_too():
    # The second place: AP 1/2, R@5 1, S@1 0, S@3 1.
    rankings, labels = [np.array([7, 3, 5])], [[3]]
    assert ranking_quality(question_metrics(rankings, labels, 100)) == pytest.approx([(0.5 + 1 + 0 + 1) / 4])
    # Of 15 articles S@3 says nothing, and quality, 3/4, stands for it.
    assert ranking_quality(question_metrics(rankings, labels, 15)) == pytest.approx([(0.5 + 1 + 0 + 0.75) / 4])


def test_the_better_of_equals_has_the_higher_quality():
    low, high = {"R@200": 0.5, QUALITY: 0.2}, {"R@200": 0.5, QUALITY: 0.3}
    assert choice_key(high, "R@200") > choice_key(low, "R@200")
    assert choice_key({"R@200": 0.6, QUALITY: 0.1}, "R@200") > choice_key(high, "R@200")
    assert choice_key(high) > choice_key({"R@200": 0.6, QUALITY: 0.1})


def test_a_ranking_of_nothing_scores_zero():
    metrics = question_metrics([np.empty(0, dtype=int)], [[0, 1, 2]], MANY)
    assert set(aggregate(metrics).values()) == {0.0}


def test_an_ideal_ranking_scores_one_as_far_as_a_cut_allows():
    means = aggregate(question_metrics([np.array([3, 5, 4])], [[3, 5]], MANY))
    assert means == pytest.approx({**dict.fromkeys(METRICS, 1.0), "R@1": 0.5})


PEERS = {
    **{f"R@{cut}": R @ cut for cut in (1, 3, 5, 10, 100, 200, 500)},
    "S@1": Success @ 1,
    "S@3": Success @ 3,
    "nDCG@10": nDCG @ 10,
    "MRR@10": RR @ 10,
    "mAP": AP,
    "mRP": Rprec,
}


def test_metrics_of_two_questions_and_their_means():
    metrics = question_metrics([np.array([7, 3, 5]), np.array([1, 2, 9])], [[3], [1, 4]], MANY)
    assert len(metrics) == 2
    assert metrics["R@100"].tolist() == [1.0, 0.5]
    assert metrics["quality"].tolist() == [(1 / 2 + 1) / 2, 1 / 2]
    means = aggregate(metrics)
    assert means["R@100"] == 0.75
    assert tuple(means) == METRICS


def test_a_label_given_twice_counts_once():
    metrics = question_metrics([np.array([4, 5])], [[4, 4]], MANY)
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
        question_metrics(rankings, labels, MANY)


def test_no_question_has_no_mean():
    with pytest.raises(ValueError, match="no questions"):
        aggregate(question_metrics([], [], MANY))


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
    ours = question_metrics(rankings, labels, MANY)
    name_of = {measure: name for name, measure in PEERS.items()}
    compared = 0
    for theirs in ir_measures.iter_calc(list(PEERS.values()), qrels, run):
        assert ours[name_of[theirs.measure]][int(theirs.query_id)] == pytest.approx(theirs.value, abs=1e-9)
        compared += 1
    assert compared == len(rankings) * len(PEERS)
    assert {*PEERS, QUALITY} == set(METRICS)


@given(
    found=st.lists(st.booleans(), max_size=30).map(lambda places: np.array(places, dtype=bool)),
    missed=st.integers(0, 3),
)
def test_better_places_never_score_less(found, missed):
    n_relevant = max(int(found.sum()) + missed, 1)
    rows, absent = np.arange(len(found)), -np.arange(1, n_relevant - int(found.sum()) + 1)
    labels = [[*rows[places], *absent] for places in (np.sort(found), found, np.sort(found)[::-1])]
    for worst, given_, best in question_metrics([rows] * 3, labels, MANY).values.values():
        assert 0 <= worst <= given_ + 1e-12 <= best + 2e-12 <= 1 + 3e-12


def test_an_article_that_answers_many_questions_counts_once():
    # Article 7 answers three questions, first in each; 8 answers one, fourth; 9 answers one, not found.
    rankings = [np.array([7, 1, 2, 3]), np.array([7, 1]), np.array([7, 2]), np.array([1, 2, 3, 8]), np.array([1])]
    means = article_means(rankings, [[7], [7], [7], [8], [9]])
    assert means == pytest.approx({"S@3": 1 / 3, "MRR@10": (1 + 1 / 4 + 0) / 3})
    assert article_means([], []) == {}
