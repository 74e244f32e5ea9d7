import pytest

from statgraph import __version__, artifacts
from statgraph.runs.provenance import commit
from statgraph.studies import running
from statgraph.studies.planning import PlannedRun, planned_runs, run_id
from statgraph.studies.running import finished_run, machine
from statgraph.studies.store import RunBusyError, RunStore
from statgraph.systems.presets import resolve_config


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path)


@pytest.fixture
def qabisar(small_table):
    return planned_runs(small_table, seeds=1, only=["QABISAR"])[0]


@pytest.fixture
def run(town_corpus, store):
    """Return a function that carries out a run on the town."""
    return lambda planned, **more: finished_run(
        planned, town_corpus, "test", store, corpus_folder="town", **{"keep_run": False, **more}
    )


def stop_after(step):
    def listener(progress):
        if progress.step == step:
            raise KeyboardInterrupt

    return listener


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
    assert result.mean("R@200") == 1.0  # of 16 articles
    assert not store.trained_folder(run_id(qabisar.config, town_corpus.content_hash, "test")).exists()


def test_a_finished_run_is_not_trained_again(run, qabisar, monkeypatch):
    first = run(qabisar)
    monkeypatch.setattr(running, "train_run", None)
    assert run(qabisar).to_dict() == first.to_dict()


def test_an_interrupted_run_goes_on(run, qabisar, town_corpus, store, tmp_path):
    whole = finished_run(
        qabisar, town_corpus, "test", RunStore(tmp_path / "whole"), corpus_folder="town", keep_run=False
    )
    steps = []
    with pytest.raises(KeyboardInterrupt):
        run(qabisar, on_training=stop_after(5))  # in the second epoch of four steps
    result = run(qabisar, on_training=lambda progress: steps.append(progress.step))
    assert steps == [5, 6, 7, 8]
    assert result.about["resumed"]
    assert result.metrics.to_dict() == whole.metrics.to_dict()


def test_a_run_that_was_trained_is_only_measured(run, qabisar, store, town_corpus, monkeypatch):
    run(qabisar, keep_run=True)
    folder = store.trained_folder(run_id(qabisar.config, town_corpus.content_hash, "test"))
    assert (folder / "manifest.json").is_file()
    (folder.parent / "result.json").unlink()
    monkeypatch.setattr(running, "train_run", None)
    assert run(qabisar).mean("R@200") == 1.0


def test_a_busy_run_is_left_alone(run, qabisar, store, town_corpus):
    with store.claimed(run_id(qabisar.config, town_corpus.content_hash, "test")), pytest.raises(RunBusyError):
        run(qabisar)


def test_a_run_of_bm25_has_no_curve(run):
    planned = PlannedRun("BM25", 0, resolve_config("bm25", ["device=cpu"]), ("device=cpu",))
    assert run(planned).about["learning_curve"] == []


def test_the_machine_in_a_line():
    assert "cores, no GPU, " in machine("cpu")
