import dataclasses
import json
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.evaluation.metrics import DEPTH, METRICS, QuestionMetrics, left_out
from statgraph.law.query import Ranked
from statgraph.law.records import Question
from statgraph.retrieval.search.evaluating import SplitMetrics, evaluate_split, split_metrics
from statgraph.retrieval.search.retriever import Retriever

UNDATED = SimpleNamespace(in_force=lambda day: None)  # articles


class FixedRanker:
    """Ranks the articles of every question alike, and notes what it was asked."""

    def __init__(self, *rows: int):
        self.rows = np.array(rows, dtype=np.int64)
        self.asked = []

    def rank(self, questions, k, allowed=None):
        self.asked.append((list(questions), k))
        return [Ranked(self.rows, np.zeros(len(self.rows), dtype=np.float32)) for _ in questions]


def test_means_over_all_seen_and_unseen_questions(corpus):
    ranker = FixedRanker(1, 2, 0)  # N1, X1, D1
    report = evaluate_split(Retriever(ranker, UNDATED), corpus, "test", rng=np.random.default_rng(0))
    assert ranker.asked == [(["deposit when", "notice when"], DEPTH)]
    assert report.split == "test"
    # q2 (D1, N1) is seen through q1's D1; q3 (X1) is not.
    assert {name: stratum.n_questions for name, stratum in report.strata.items()} == {
        "all": 2,
        "seen": 1,
        "unseen": 1,
        "gold: 1": 1,
        "gold: 2-5": 1,
        "length: under 75 words": 2,
    }
    assert report.strata["gold: 2-5"] == report.strata["seen"]
    assert report.strata["seen"].metrics["mAP"].mean == pytest.approx((1 / 1 + 2 / 3) / 2)
    assert report.strata["unseen"].metrics["mAP"].mean == pytest.approx(1 / 2)
    assert report.strata["all"].metrics["mAP"].mean == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert report.strata["all"].metrics["MRR@10"].mean == pytest.approx((1 + 1 / 2) / 2)
    assert report.strata["all"].metrics["quality"].mean == pytest.approx(((5 / 6 + 1 / 2) / 2 + 1) / 2)
    assert report.n_articles == 3


def test_metrics_of_each_question_in_corpus_order(corpus):
    measured = split_metrics(Retriever(FixedRanker(1, 2, 0), UNDATED), corpus, "test")
    assert measured.question_ids == ("q2", "q3")
    assert list(measured.metrics.values) == [name for name in METRICS if name not in left_out(3)]
    assert measured.metrics["mAP"].tolist() == pytest.approx([5 / 6, 1 / 2])
    assert measured.masks["seen"].tolist() == [True, False]
    assert measured.masks["gold: 1"].tolist() == [False, True]


def test_questions_like_those_of_training_are_those_that_half_of_dev_is_as_near_as(corpus):
    asked = {"train": ["Who pays for the lamps?"], "dev": ["Who pays for the wells?", "May I howl?"]}
    asked["test"] = ["Who pays for the lamps and the wells?", "Wolves"]
    questions = tuple(
        Question(f"{split}{place}", text, split, ("D1",))
        for split, texts in asked.items()
        for place, text in enumerate(texts)
    )
    corpus = dataclasses.replace(corpus, questions=questions)
    for split in ("dev", "test"):
        masks = split_metrics(Retriever(FixedRanker(1), UNDATED), corpus, split).masks
        assert masks["like training"].tolist() == [True, False]
        assert masks["unlike training"].tolist() == [False, True]
    untaught = dataclasses.replace(corpus, questions=questions[1:])
    assert "like training" not in split_metrics(Retriever(FixedRanker(1), UNDATED), untaught, "dev").masks


SAVED = {
    "question_ids": ["q2", "q3"],
    "metrics": {"mAP": [0.833333, 0.5]},
    "strata": {"all": ["q2", "q3"], "seen": ["q2"], "unseen": ["q3"], "topic: A": []},
}


def test_split_metrics_are_saved_with_six_digits_and_come_back():
    masks = {"all": [True, True], "seen": [True, False], "unseen": [False, True], "topic: A": [False, False]}
    masks = {name: np.array(mask) for name, mask in masks.items()}
    measured = SplitMetrics(("q2", "q3"), QuestionMetrics({"mAP": np.array([5 / 6, 1 / 2])}), masks)
    assert json.loads(json.dumps(measured.to_dict())) == SAVED
    back = SplitMetrics.from_dict(SAVED)
    assert back.question_ids == ("q2", "q3")
    assert back.metrics["mAP"].tolist() == [0.833333, 0.5]
    assert {name: mask.tolist() for name, mask in back.masks.items()} == {
        name: mask.tolist() for name, mask in masks.items()
    }
    assert back.masks["topic: A"].dtype == bool


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"metrics": {"mAP": [0.5]}}, "a metric does not have 2 values, one for each question"),
        ({"metrics": {"mAP": ["high", 0.5]}}, "could not convert string to float: 'high'"),
        ({"metrics": [0.5]}, "AttributeError: 'list' object has no attribute 'items'"),
        ({"question_ids": None}, "TypeError: 'NoneType' object is not iterable"),
        ({"strata": {"all": 2}}, "TypeError: 'int' object is not iterable"),
        ({"strata": {"all": ["q2", "q4"]}}, "a stratum holds question 'q4', which was not measured"),
    ],
)
def test_what_does_not_fit_together_is_refused(changed, message):
    with pytest.raises(RunError, match=rf"^split metrics: not readable \({message}\); evaluate the run again$"):
        SplitMetrics.from_dict({**SAVED, **changed})


def test_without_training_questions_all_are_unseen(corpus):
    corpus = dataclasses.replace(corpus, questions=corpus.questions[1:])
    report = evaluate_split(Retriever(FixedRanker(0), UNDATED), corpus, "test", rng=np.random.default_rng(0))
    assert (report.strata["seen"].n_questions, report.strata["unseen"].n_questions) == (0, 2)
    assert report.strata["seen"].metrics == {}
