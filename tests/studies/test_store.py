import multiprocessing
import os

import numpy as np
import pytest

from statgraph.errors import RunError
from statgraph.studies.store import RunBusyError, RunStore


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


def _die_holding(work):
    with RunStore(work).claimed("r"):
        os._exit(1)


def test_a_process_that_dies_lets_go(store, tmp_path):
    process = multiprocessing.get_context("fork").Process(target=_die_holding, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 1
    with store.claimed("r"):
        pass
