import dataclasses

import numpy as np
import pytest

from statgraph.errors import UsageError
from statgraph.search.evaluating import DEPTH, evaluate_split
from statgraph.search.retriever import Retriever


class FixedRanker:
    """Ranks the articles of every question alike, and notes what it was asked."""

    def __init__(self, *rows: int):
        self.rows = np.array(rows, dtype=np.int64)
        self.asked = []

    def rank(self, questions, k):
        self.asked.append((list(questions), k))
        return [self.rows for _ in questions], [np.zeros(len(self.rows), dtype=np.float32) for _ in questions]


def test_means_over_all_seen_and_unseen_questions(corpus):
    ranker = FixedRanker(1, 2, 0)  # N1, X1, D1
    report = evaluate_split(Retriever(ranker, None), corpus, "test", rng=np.random.default_rng(0))
    assert ranker.asked == [(["deposit when", "notice when"], DEPTH)]
    assert report.split == "test"
    # q2 (D1, N1) is seen through q1's D1; q3 (X1) is not.
    assert {name: stratum.n_questions for name, stratum in report.strata.items()} == {"all": 2, "seen": 1, "unseen": 1}
    assert report.strata["seen"].metrics["mAP"].mean == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert report.strata["unseen"].metrics["mAP"].mean == pytest.approx(1 / 2)
    assert report.strata["all"].metrics["mAP"].mean == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert report.strata["all"].metrics["MRR@10"].mean == pytest.approx((1 + 1 / 2) / 2)
    assert report.strata["all"].metrics["R@100"].mean == 1


def test_equal_seeds_give_equal_intervals(corpus):
    reports = [
        evaluate_split(Retriever(FixedRanker(1, 2, 0), None), corpus, "test", rng=np.random.default_rng(7))
        for _ in range(2)
    ]
    assert reports[0] == reports[1]


def test_without_training_questions_all_are_unseen(corpus):
    corpus = dataclasses.replace(corpus, questions=corpus.questions[1:])
    report = evaluate_split(Retriever(FixedRanker(0), None), corpus, "test", rng=np.random.default_rng(0))
    assert (report.strata["seen"].n_questions, report.strata["unseen"].n_questions) == (0, 2)
    assert report.strata["seen"].metrics == {}


def test_an_unknown_split_is_refused(corpus):
    with pytest.raises(UsageError, match=r"^split 'valid' is not known; use one of train, dev, test$"):
        evaluate_split(Retriever(FixedRanker(), None), corpus, "valid", rng=np.random.default_rng(0))


def test_a_split_without_questions_is_refused(corpus):
    with pytest.raises(UsageError, match=r"^split 'dev' of corpus 'rent' has no questions; choose another split$"):
        evaluate_split(Retriever(FixedRanker(), None), corpus, "dev", rng=np.random.default_rng(0))
