import dataclasses

import numpy as np
import pytest

from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.studies.ablation import LEARNING, PARTS, AblationRuns, reduced, with_signal_rows
from statgraph.studies.reproduce import Request, reproduce
from statgraph.studies.running import CorpusRuns, planned_runs
from statgraph.studies.spec import RowSpec, TableSpec, read_table
from statgraph.studies.store import RunStore
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


@pytest.fixture
def plan(ensemble_settings):
    """Return a function that plans one row that does without something."""

    def planned(without="", *more):
        spec = TableSpec("t", "T", "P", rows=(RowSpec("a", "ensemble", without=without),), ablation=True)
        (run,) = planned_runs(spec, seeds=1, settings=[*ensemble_settings, *more])
        return run

    return planned


def test_what_can_be_left_out():
    assert [row.without for row in read_table("ranking-ablation").rows] == ["", *PARTS]


def test_a_row_for_each_signal_and_member(plan, quick_backbone):
    spec = with_signal_rows(read_table("ranking-ablation"), plan().config)
    signals = ["citation", "bm25", "citing", "maxsim", "votes", "wording"]
    members = [f"{system}@{quick_backbone}" for system in ("qabisar", "zero-shot")]
    assert [row.without for row in spec.rows] == ["", *signals, *members, *PARTS]
    assert {spec.against(row) for row in spec.rows[1:]} == {"whole ensemble"}


def test_a_row_is_the_ensemble_that_training_would_have_made(plan, town_corpus, tmp_path):
    store = RunStore(tmp_path)
    rows = AblationRuns(town_corpus, "test", store)
    runs = CorpusRuns(town_corpus, "test", store)
    for without, settings in (
        ("", ()),
        ("wording", ("ensemble.signals=citation,bm25,votes",)),
        (LEARNING, ("ranker.learnt=false",)),
    ):
        row, run = rows.finished(plan(without)), runs.finished(plan("", *settings))
        assert row.metrics.to_dict() == run.metrics.to_dict()


@pytest.mark.parametrize(
    ("without", "question"),
    [
        ("sentences", "My lamp is broken. I wrote to the town. Nobody came to see it. " * 4 + "Who pays for my well?"),
        ("typing errors", "Who pays for the wattter of my lampps?"),
        ("doubt", "Who pays for my well?"),
        ("centring", "Who pays for my well?"),
    ],
)
def test_how_a_question_is_read_can_be_left_out(ensemble_settings, town_corpus, tmp_path, without, question):
    config = resolve_config("ensemble", (*ensemble_settings, "ranker.learnt=false"))
    ensemble = read_ensemble(train_run(town_corpus, config, tmp_path / "run"), len(town_corpus.articles), device="cpu")
    whole, other = (reduced(ensemble, part, town_corpus).ensemble for part in ("", without))

    def scaled(ensemble, text):
        (candidates,) = ensemble.candidates([text])
        return candidates.scaled

    if without not in ("doubt", "centring"):
        plain = "Who pays for my well?"
        assert np.array_equal(scaled(whole, plain), scaled(other, plain))
    assert not np.array_equal(scaled(whole, question), scaled(other, question))


def test_members_are_trained_once_for_all_rows(plan, town_corpus, tmp_path, monkeypatch):
    rows = AblationRuns(town_corpus, "test", RunStore(tmp_path))
    first = rows.finished(plan("bm25"))
    monkeypatch.setattr("statgraph.systems.dense.train_dense", None)
    rows.close([plan()])
    assert not list(tmp_path.glob("runs/*/run"))
    again = AblationRuns(town_corpus, "test", RunStore(tmp_path))
    assert again.finished(plan("bm25")).to_dict() == first.to_dict()
    assert len(again.finished(plan("same heading")).about["taken"]) == 2  # the members
    assert again.finished(plan("cites")).about["taken"] == []


def test_the_whole_table(ensemble_settings, town_corpus, tmp_path, no_display):
    spec = read_table("ranking-ablation")
    request = Request(
        dataclasses.replace(spec, rows=(spec.rows[0], spec.rows[-1])),
        seeds=1, split="test", work=tmp_path / "work", command="c", settings=ensemble_settings,
    )  # fmt: skip
    lines = []
    made = reproduce(request, town_corpus, tmp_path / "out", display=no_display, on_line=lines.append)
    assert [line.partition(", seed")[0] for line in lines][:2] == ["whole ensemble", "without citation"]
    assert made.missing == ()
    text = (tmp_path / "out" / "table.md").read_text()
    assert "## Differences from whole ensemble\n" in text
    assert not list((tmp_path / "work" / "runs").glob("*/run"))
