"""Runs that an earlier release wrote still answer; those of tests/runs/released are the first, of 0.1.0 (the town's
`bm25` and `qabisar`), and stay as they are."""

import shutil

import numpy as np
import pytest

from statgraph import Retriever, artifacts
from statgraph.retrieval.search.evaluating import evaluate_split
from statgraph.runs.run import FORMAT, RunFolder
from statgraph.systems.model_card import read_run_report
from statgraph.systems.updating.update import update_run

QUESTIONS = ("May I keep my lamps and wells?", "Are dogs taxed?")


@pytest.fixture(scope="session")
def released(pytestconfig):
    return pytestconfig.rootpath / "tests" / "runs" / "released"


@pytest.fixture(params=("bm25", "qabisar"))
def old_run(request, tmp_path, released):
    """Return a copy of a run of 0.1.0."""
    return shutil.copytree(released / request.param, tmp_path / request.param)


def test_it_finds_what_it_found(old_run, released):
    answers = artifacts.read_json(released / "answers.json")[old_run.name]
    for question, expected in zip(QUESTIONS, answers, strict=True):
        hits = Retriever.load(old_run, device="cpu").search(question, 5)
        assert [hit.article_id for hit in hits] == [article_id for article_id, _ in expected]
        assert [hit.score for hit in hits] == pytest.approx([score for _, score in expected], abs=2e-6)


def test_its_metrics_are_those_of_its_report(old_run, town_corpus):
    RunFolder.read(old_run).check_corpus(town_corpus)
    report = evaluate_split(Retriever.load(old_run, device="cpu"), town_corpus, "dev", rng=np.random.default_rng(0))
    old = read_run_report(old_run)
    for name, stratum in old.strata.items():
        now = report.strata[name].metrics
        for metric, value in stratum.metrics.items():
            assert value.mean == pytest.approx(now[metric].mean)


def test_an_update_makes_it_one_of_the_present_format(old_run, town_corpus):
    expected = Retriever.load(old_run, device="cpu").search(QUESTIONS[0], 5)
    update_run(old_run, town_corpus, full=True)
    assert artifacts.read_json(old_run / artifacts.MANIFEST)["format"] == FORMAT
    hits = Retriever.load(old_run, device="cpu").search(QUESTIONS[0], 5)
    assert [hit.article_id for hit in hits] == [hit.article_id for hit in expected]
