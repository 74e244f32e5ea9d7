import dataclasses
import shlex

import pytest

from statgraph import __version__, artifacts
from statgraph.config import RunConfig
from statgraph.contrib.tuning.bm25_grid import tuned_bm25
from statgraph.errors import UsageError
from statgraph.law.records import CitingText
from statgraph.progress import TrainingStep
from statgraph.runs.provenance import commit
from statgraph.settings import with_settings
from statgraph.studies import running
from statgraph.studies.running import CorpusRuns, PlannedRun, machine, planned_runs, run_id, with_tuned_bm25
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunStore
from statgraph.systems.job import TrainingOptions
from statgraph.systems.presets import resolve_config

STATIC, E5 = "embedded:static", "embedded:multilingual-e5-small"


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path)


@pytest.fixture
def qabisar(small_table):
    return planned_runs(small_table, seeds=1, only=["QABISAR"])[0]


@pytest.fixture
def run(town_corpus, store):
    """Return a function that carries out a run on the town."""

    def finished(planned, *, keep=False, **options):
        return CorpusRuns(town_corpus, "test", store, "town", keep).finished(planned, TrainingOptions(**options))

    return finished


def stop_after(step):
    def stop(at):
        if isinstance(at, TrainingStep) and at.done == step:
            raise KeyboardInterrupt

    return stop


def test_what_is_known_of_a_run(run, store, qabisar, town_corpus):
    result = run(qabisar)
    about = result.about
    assert about["config"] == artifacts.as_json(qabisar.config.to_dict())
    assert (about["seed"], about["split"], about["corpus"]["articles"], about["resumed"]) == (0, "test", 16, False)
    assert about["command"].startswith("statgraph train --corpus town --system qabisar --seed 0 --set device=cpu ")
    assert about["versions"]["statgraph"] == __version__
    assert [record["stage"] for record in about["learning_curve"]] == ["stage2"] * 3
    assert "stage 2" in [step["name"] for step in about["steps"]]
    assert (about["commit"], about["machine"]) == (commit(), machine("cpu"))
    assert about["seconds"] > 0
    assert result.metrics.question_ids == tuple(question.question_id for question in town_corpus.split("test"))
    assert result.mean("mAP") == pytest.approx(result.metrics.metrics["mAP"].mean())
    assert not store.trained_folder(run_id(qabisar.config, town_corpus.content_hash, "test")).exists()


def test_an_interrupted_run_goes_on(run, qabisar, town_corpus, store, tmp_path):
    whole = CorpusRuns(town_corpus, "test", RunStore(tmp_path / "whole")).finished(qabisar)
    steps = []
    with pytest.raises(KeyboardInterrupt):
        run(qabisar, progress=stop_after(5))  # in the second epoch of four steps
    result = run(qabisar, progress=lambda step: steps.append(step.done) if isinstance(step, TrainingStep) else None)
    assert steps == [5, 6, 7, 8]
    assert result.about["resumed"]
    assert result.metrics.to_dict() == whole.metrics.to_dict()


def test_a_retrained_run_takes_the_epochs_of_another_and_keeps_test(run, qabisar, store, monkeypatch):
    trained, train = [], running.train_run
    monkeypatch.setattr(running, "train_run", lambda *how: trained.append(how) or train(*how))
    planned = dataclasses.replace(qabisar, row=dataclasses.replace(qabisar.row, retrained=True))
    result = run(planned)
    (_, _, first, plain), (_, _, _, final) = trained
    assert (plain.final, final.final.folder, final.keep_test) == (None, first, True)
    before, after = result.about["command"].split(" && ")
    assert before == f"{qabisar.train_command('town')} --out RUN"
    assert after == "statgraph train --corpus town --final RUN --keep-test"
    assert [path.name for path in first.parent.iterdir() if path.is_dir()] == []
    assert run(planned).to_dict() == result.to_dict()
    assert len(trained) == 2
    assert run(qabisar).about["corpus"] != result.about["corpus"]


def table(*rows) -> TableSpec:
    return TableSpec("t", "T", "P", rows=rows)


def test_seed_by_seed_and_once_where_nothing_is_random():
    spec = table(RowSpec("a", "bm25", seeded=False), RowSpec("b", "dsr"), RowSpec("c", "qabisar"))
    runs = planned_runs(spec, seeds=2, settings=["device=cpu"])
    assert [(run.row.name, run.seed) for run in runs] == [("a", 0), ("b", 0), ("c", 0), ("b", 1), ("c", 1)]
    assert [run.config.seed for run in runs] == [0, 0, 0, 1, 1]
    assert [(run.row.name, run.seed) for run in planned_runs(spec, seeds=2, only=["c"])] == [("c", 0), ("c", 1)]


def test_the_settings_of_a_row_then_its_regime_then_the_users():
    row = RowSpec(
        "a", "dsr", ("stage1.lr=1",), {"static": ("stage1.lr=2", "stage1.epochs=9"), "head": ("stage1.lr=3",)}
    )
    (static,) = planned_runs(table(row), seeds=1, backbone=STATIC, settings=["device=cpu"])
    (head,) = planned_runs(table(row), seeds=1, backbone=E5, settings=["device=cpu"])
    (user,) = planned_runs(table(row), seeds=1, backbone=STATIC, settings=["device=cpu", "stage1.epochs=5"])
    assert [(run.config.stage1.lr, run.config.stage1.epochs) for run in (static, head, user)] == [
        (2, 9),
        (3, 4),
        (2, 5),
    ]
    assert user.settings == (
        "encoder.backbone=embedded:static", "stage1.lr=1", "stage1.lr=2", "stage1.epochs=9", "device=cpu",
        "stage1.epochs=5",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("row", "settings"),
    [
        (RowSpec("a", "bm25"), ("device=cpu",)),
        (RowSpec("b", "dsr"), (f"encoder.backbone={E5}", "device=cpu")),
        (RowSpec("c", "dsr", backbone=STATIC), (f"encoder.backbone={STATIC}", "device=cpu")),
    ],
)
def test_the_backbone_is_of_dense_rows_that_have_none(row, settings):
    (run,) = planned_runs(table(row), seeds=1, backbone=E5, settings=["device=cpu"])
    assert run.settings == settings


def test_a_fast_row_has_no_transformer():
    (run,) = planned_runs(table(RowSpec("a", "ensemble", fast=True)), seeds=1, settings=["device=cpu"])
    assert run.config.ensemble.members == (f"qabisar@{STATIC}",)


def test_the_train_command_makes_the_same_configuration():
    row = RowSpec("a", "qabisar", ("graph.relations=tree, bipartite",), {"static": ("gnn.heads=4",)})
    (_, run) = planned_runs(table(row), seeds=2, backbone=STATIC, settings=["device=cpu"])
    command = run.train_command("my corpora/town")
    words = shlex.split(command)
    assert words[:8] == ["statgraph", "train", "--corpus", "my corpora/town", "--system", "qabisar", "--seed", "1"]
    assert words[8::2] == ["--set"] * 4
    assert resolve_config("qabisar", ["seed=1", *words[9::2]]) == run.config
    assert run.train_command("").startswith("statgraph train --system qabisar ")


def test_bm25_is_tuned_once(store, town_corpus, monkeypatch):
    no_path = "encoder.heading_path=false"
    rows = [RowSpec("a", "bm25", ("bm25.k1=9",), tuned=True), RowSpec("b", "bm25")]
    spec = table(*rows, RowSpec("c", "bm25", (no_path,), tuned=True))
    grids = {True: ([0.5], [0.1, 1]), False: ([2.5], [1])}
    monkeypatch.setattr(
        running,
        "tuned_bm25",
        lambda corpus, heading_path, stop_words: tuned_bm25(corpus, *grids[heading_path], heading_path=False),
    )
    tuned = with_tuned_bm25(spec, town_corpus, store)
    assert [row.settings for row in tuned.rows] == [
        ("bm25.k1=9", "bm25.k1=0.5", "bm25.b=0.1"), (), (no_path, "bm25.k1=2.5", "bm25.b=1"),
    ]  # fmt: skip
    with pytest.raises(UsageError, match="'dev'"):
        with_tuned_bm25(spec, dataclasses.replace(town_corpus, questions=()), store)
    monkeypatch.setattr(running, "tuned_bm25", None)
    assert with_tuned_bm25(spec, town_corpus, store) == tuned


def ensemble_runs(settings, *rows):
    return planned_runs(table(*rows), seeds=1, settings=settings)


def test_an_ensemble_is_measured_with_each_signal_and_its_members_are_shared(
    run, quick_settings, ensemble_settings, town_corpus, store
):
    (whole,) = ensemble_runs(ensemble_settings, RowSpec("a", "ensemble"))
    (fixed,) = ensemble_runs((*ensemble_settings, "ranker.learnt=false"), RowSpec("b", "ensemble"))
    result = run(whole)
    assert list(result.signals) == ["citation", "bm25", "votes", "wording", *whole.config.ensemble.members]
    assert list(result.signals["bm25"].metrics.values) == ["S@3", "MRR@10", "mAP"]  # the town is too small for R@100
    assert result.about["taken"] == []
    taken = run(fixed).about["taken"]
    assert [member["name"] for member in taken] == list(whole.config.ensemble.members)
    assert store.result(run_id(whole.config, town_corpus.content_hash, "test")).to_dict() == result.to_dict()
    kept = set(store.run_cache.iterdir())
    run(PlannedRun(RowSpec("DSR", "dsr"), 0, resolve_config("dsr", quick_settings), ()))
    assert set(store.run_cache.iterdir()) == kept  # only members are


def test_without_questions_the_law_is_trained_on_and_the_questions_asked(
    run, ensemble_settings, town_corpus, store, monkeypatch
):
    citing = (
        CitingText("c1", "Lamps", "What to know of lamps", ("lamps1",), "train-lamps"),
        CitingText("c2", "Wells", "What to know of wells", ("wells1",)),
    )
    corpus = dataclasses.replace(town_corpus, citing=citing)
    trained = []
    train = running.train_run
    monkeypatch.setattr(running, "train_run", lambda law, *how: trained.append(law) or train(law, *how))
    rows = RowSpec("a", "ensemble"), RowSpec("b", "ensemble", without_questions=True)
    with_them, without = ensemble_runs(ensemble_settings, *rows)
    result = CorpusRuns(corpus, "test", store, "town").finished(without)
    assert [(law.questions, law.citing) for law in trained] == [((), citing[1:])]
    assert result.metrics.question_ids == tuple(question.question_id for question in corpus.split("test"))
    assert result.metrics.masks["all"].sum() == 4
    assert result.about["command"].startswith("statgraph train --corpus town-without-questions --system ensemble ")
    assert "votes" not in result.signals
    assert CorpusRuns(corpus, "test", store).result(with_them) is None


def test_every_question_set_is_measured(store, town_corpus):
    moved = [dataclasses.replace(q, metadata={"set": "lay"}) for q in town_corpus.split("test")[2:]]
    kept = [q for q in town_corpus.questions if q not in town_corpus.split("test")[2:]]
    corpus = dataclasses.replace(town_corpus, questions=(*kept, *moved))
    planned = PlannedRun(RowSpec("BM25", "bm25"), 0, resolve_config("bm25", ["device=cpu"]), ("device=cpu",))
    runs = CorpusRuns(corpus, "test", store)
    metrics = runs.finished(planned).metrics
    assert metrics.question_ids == tuple(q.question_id for q in (*corpus.split("test"), *moved))
    assert metrics.masks["all"].tolist() == [True, True, False, False]
    assert metrics.masks["lay: all"].tolist() == [False, False, True, True]
    assert runs.result(planned).mean("mAP", "lay: all") == pytest.approx(metrics.metrics["mAP"][2:].mean())


def test_what_a_run_is_known_by():
    config = RunConfig()
    name = run_id(config, "corpus", "test")
    assert name == run_id(dataclasses.replace(config), "corpus", "test")
    others = [
        run_id(with_settings(config, ["seed=1"]), "corpus", "test"),
        run_id(with_settings(config, ["stage2.lr=1"]), "corpus", "test"),
        run_id(config, "another", "test"),
        run_id(config, "corpus", "dev"),
        run_id(config, "corpus", "test", "without questions"),
    ]
    assert len({name, *others}) == 6
