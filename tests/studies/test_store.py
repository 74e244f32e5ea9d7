from dataclasses import replace

import numpy as np
import pytest

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.runs import parts
from statgraph.runs.folders import is_finished
from statgraph.studies.store import KeptRuns, RunBusyError, RunStore
from statgraph.systems import dense
from statgraph.systems.job import TrainingOptions
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


@pytest.fixture
def store(tmp_path):
    return RunStore(tmp_path)


def test_a_result_comes_back_as_it_was(store, made_up):
    store.trained_folder("r").mkdir(parents=True)
    store.finish("r", made_up([1, 0.5, 0, 1], note="x"), keep_run=False)
    found = store.result("r")
    assert (found.about["note"], found.about["seed"], "questions" in found.about) == ("x", 0, False)
    np.testing.assert_array_equal(found.metrics.metrics["R@200"], [1, 0.5, 0, 1])
    assert (found.mean("R@200"), found.mean("R@200", "seen"), found.mean("mAP", "unseen")) == (0.625, 0.75, 0.25)
    assert not store.trained_folder("r").exists()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"questions": {"question_ids": ["a"]}}'])
def test_a_damaged_result_is_refused(store, tmp_path, text):
    path = tmp_path / "runs" / "r" / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(RunError, match=r"result\.json: damaged"):
        store.result("r")


def test_one_process_works_on_a_run(store, tmp_path):
    other = RunStore(tmp_path)
    with store.claimed("r"):
        with pytest.raises(RunBusyError, match=r"^another process works on it$"), other.claimed("r"):
            pass
        with other.claimed("another"):
            pass
    with other.claimed("r"):
        pass


@pytest.fixture
def cache(tmp_path):
    return KeptRuns(tmp_path / "kept")


@pytest.fixture
def config(quick_settings):
    return resolve_config("dsr", (*quick_settings, "stage1.epochs=1"))


@pytest.fixture
def train(tmp_path, town_corpus, cache, config):
    """Return a function that trains into a folder with the cache."""

    def trained(name, config=config, corpus=town_corpus):
        return train_run(corpus, config, tmp_path / name, TrainingOptions(run_cache=cache))

    return trained


def test_an_equal_run_is_not_trained_again(train, cache, config, monkeypatch):
    first = train("a")
    assert cache.taken == []
    monkeypatch.setattr(dense, "train_dense", None)
    second = train("b", replace(config, ranker=replace(config.ranker, read=30)))
    names = {path.name for path in first.folder.iterdir()} - {parts.CHECKPOINTS.name}
    assert {path.name for path in second.folder.iterdir()} == names
    assert is_finished(second.folder)
    (taken,) = cache.taken
    assert taken["name"] == f"dsr@{config.encoder.backbone}"
    assert taken["seconds"] == pytest.approx(sum(step["seconds"] for step in first.steps), abs=0.06)
    assert taken["peak_mib"] == max(step["peak_mib"] for step in first.steps)


@pytest.mark.parametrize("other", ["seed", "questions"])
def test_another_run_is(train, cache, config, town_corpus, other):
    train("a")
    if other == "seed":
        train("b", replace(config, seed=1))
    else:
        train("b", corpus=replace(town_corpus, questions=town_corpus.split("train")))
    assert cache.taken == []


def test_a_damaged_one_is_trained_again(train, cache):
    train("a")
    (kept,) = cache.folder.iterdir()
    (kept / artifacts.MANIFEST).unlink()
    (kept / artifacts.MANIFEST).write_text("{}")
    assert is_finished(train("b").folder)
    assert cache.taken == []
