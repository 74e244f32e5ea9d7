import json

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.evaluation.metrics import METRICS
from statgraph.evaluation.question_metrics import question_metrics
from statgraph.evaluation.report import Report, evaluation_report
from statgraph.evaluation.significance import Estimate


@pytest.fixture
def report() -> Report:
    labels = [[0], [1], [2]]
    metrics = question_metrics([np.array([0, 5]), np.array([5, 1]), np.array([5, 6])], labels)
    masks = {
        "all": np.array([True, True, True]),
        "seen": np.array([True, True, False]),
        "unseen": np.array([False, False, True]),
    }
    return evaluation_report(metrics, masks, split="test", rng=np.random.default_rng(0))


def test_report_holds_the_mean_of_each_stratum(report):
    assert {name: stratum.n_questions for name, stratum in report.strata.items()} == {"all": 3, "seen": 2, "unseen": 1}
    assert report.strata["all"].metrics["mAP"].mean == (1 + 1 / 2 + 0) / 3
    assert report.strata["seen"].metrics["MRR@10"].mean == (1 + 1 / 2) / 2
    assert report.strata["unseen"].metrics["R@100"] == Estimate(0.0, 0.0, 0.0)
    assert list(report.strata["all"].metrics) == list(METRICS)


def test_report_comes_back_from_json(report):
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_a_stratum_without_questions_has_no_metrics():
    metrics = question_metrics([np.array([0])], [[0]])
    masks = {"seen": np.array([False]), "unseen": np.array([True])}
    report = evaluation_report(metrics, masks, split="dev", rng=np.random.default_rng(0))
    assert report.strata["seen"].n_questions == 0
    assert report.strata["seen"].metrics == {}
    assert Report.from_dict(report.to_dict()) == report


@pytest.mark.parametrize("saved", [{}, {"split": "test", "strata": []}, {"split": "test", "strata": {"all": 3}}])
def test_what_is_no_report_is_refused(saved):
    with pytest.raises(RunError, match=r"^report: not as 'statgraph evaluate' writes it .*; evaluate the run again$"):
        Report.from_dict(saved)
