import dataclasses
from types import SimpleNamespace

import pytest

from statgraph.retrieval.ranking.features import FACTS, OF_CITED, OF_CITING, OF_PARENT, OF_SECTION, feature_names
from statgraph.retrieval.ranking.learnt import Learning
from statgraph.studies.ablation import (
    CITATIONS,
    FEATURES,
    READING,
    TREES,
    AblationRuns,
    _without,
    with_signal_rows,
)
from statgraph.studies.reproduce import Request, reproduce
from statgraph.studies.running import CorpusRuns, planned_runs
from statgraph.studies.spec import RowSpec, TableSpec, read_table
from statgraph.studies.store import RunStore
from statgraph.systems import learning
from statgraph.systems.job import TrainingOptions


@pytest.fixture
def settings(ensemble_settings):
    # Exactly 20 trees, so that rows are what training makes without the signal.
    trees = ("ranker.kind=lambdamart", "ranker.trees=20", "ranker.leaf_size=1")
    return (*ensemble_settings, *trees, "ranker.learn_from=cross-fit", "ranker.folds=2")


@pytest.fixture
def plan(settings):
    """Return a function that plans one row that does without something."""

    def planned(without="", *more):
        spec = TableSpec("t", "T", "P", rows=(RowSpec("a", "ensemble", without=without),), ablation=True)
        (run,) = planned_runs(spec, seeds=1, settings=[*settings, *more])
        return run

    return planned


def test_what_can_be_left_out():
    names = feature_names(["bm25", "citing"])
    left_out = {group: [name for name in names if of_group(*name)] for group, of_group in FEATURES.items()}
    subjects = ("bm25", "citing", "sum")
    assert left_out == {
        "same heading": [(subject, OF_SECTION) for subject in subjects],
        "heading above": [(subject, OF_PARENT) for subject in subjects],
        "cited by": [("sum", OF_CITING)],
        "cites": [("sum", OF_CITED)],
        "facts": [("article", fact) for fact in FACTS],
    }
    rows = read_table("ranking-ablation").rows
    assert [row.without for row in rows] == ["", *FEATURES, CITATIONS, *READING, TREES]


def test_a_row_for_each_signal_and_member(plan, quick_backbone):
    spec = with_signal_rows(read_table("ranking-ablation"), plan().config)
    signals = ["citation", "bm25", "headings", "citing", "maxsim", "votes", "wording"]
    members = [f"{system}@{quick_backbone}" for system in ("qabisar", "zero-shot")]
    assert [row.without for row in spec.rows] == ["", *signals, *members, *FEATURES, CITATIONS, *READING, TREES]
    assert {spec.against(row) for row in spec.rows[1:]} == {"whole ensemble"}


def test_a_row_is_the_ensemble_that_training_would_have_made(plan, town_corpus, tmp_path):
    store = RunStore(tmp_path)
    rows = AblationRuns(town_corpus, "test", store)
    runs = CorpusRuns(town_corpus, "test", store)
    for without, settings in (
        ("", ()),
        ("headings", ("ensemble.signals=citation,bm25,votes,wording",)),
        (TREES, ("ranker.kind=fixed",)),
    ):
        row, run = rows.finished(plan(without)), runs.finished(plan("", *settings))
        assert row.metrics.to_dict() == run.metrics.to_dict()
        assert row.about["trees"] == (0 if without == TREES else 20)


@pytest.mark.parametrize(
    ("without", "question"),
    [
        ("sentences", "My lamp is broken. I wrote to the town. Nobody came to see it. " * 4 + "Who pays for my well?"),
        ("typing errors", "Who pays for the wattter of my lampps?"),
        ("doubt", "Who pays for my well?"),
        ("centring", "Who pays for my well?"),
    ],
)
def test_how_a_question_is_read_can_be_left_out(plan, town_corpus, tmp_path, without, question):
    rows = AblationRuns(town_corpus, "test", RunStore(tmp_path))
    trained = rows.ensemble_of(plan("", "ranker.kind=fixed"), TrainingOptions())
    whole, reduced = (_without(trained, part, town_corpus).ensemble for part in ("", without))
    if without not in ("doubt", "centring"):
        plain = ["Who pays for my well?"]
        assert next(whole.features(plain)).values.tolist() == next(reduced.features(plain)).values.tolist()
    assert next(whole.features([question])).values.tolist() != next(reduced.features([question])).values.tolist()


def test_members_are_trained_once_for_all_rows(plan, town_corpus, tmp_path, monkeypatch):
    rows = AblationRuns(town_corpus, "test", RunStore(tmp_path))
    first = rows.finished(plan("bm25"))
    monkeypatch.setattr("statgraph.systems.dense.train_dense", None)
    rows.close([plan()])
    assert not list(tmp_path.glob("runs/*/run"))
    again = AblationRuns(town_corpus, "test", RunStore(tmp_path))
    assert again.finished(plan("bm25")).to_dict() == first.to_dict()
    assert len(again.finished(plan("same heading")).about["taken"]) == 4  # two members, and one of each fold
    assert again.finished(plan("facts")).about["taken"] == []


def test_the_whole_table(settings, town_corpus, tmp_path, no_display):
    spec = read_table("ranking-ablation")
    request = Request(
        dataclasses.replace(spec, rows=(spec.rows[0], spec.rows[-1])),
        seeds=1, split="test", work=tmp_path / "work", command="c", settings=settings,
    )  # fmt: skip
    lines = []
    made = reproduce(request, town_corpus, tmp_path / "out", display=no_display, on_line=lines.append)
    assert [line.partition(", seed")[0] for line in lines][:2] == ["whole ensemble", "without citation"]
    assert made.missing == ()
    text = (tmp_path / "out" / "table.md").read_text()
    assert "## Differences from whole ensemble\n" in text
    assert not list((tmp_path / "work" / "runs").glob("*/run"))


def test_first_hits_stay_in_every_row_where_they_do_in_the_run(plan, town_corpus, tmp_path, monkeypatch):
    rankers = (SimpleNamespace(keeps_first=first, scores=lambda candidates: candidates.rows) for first in (False, True))
    alone, staying = (Learning(ranker, 20, [], (0.1, 0.0)) for ranker in rankers)
    monkeypatch.setattr(learning, "learn", lambda *given, **options: alone)
    monkeypatch.setattr(learning, "keeping_first", lambda *given: staying)
    auto = plan("", "ranker.kind=auto")
    for loses in (True, False):
        monkeypatch.setattr(learning, "_loses_first_hits", lambda *given, loses=loses: loses)
        trained = AblationRuns(town_corpus, "test", RunStore(tmp_path)).ensemble_of(auto, TrainingOptions())
        assert (trained.trees, trained.keeps_first) == (20, loses)
