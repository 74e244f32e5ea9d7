import dataclasses

import pytest
import yaml

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.settings import overlaid, with_settings
from statgraph.systems.tuning.results import BEST, HISTORY, TRIALS, TrialRecord, Tuning, write_tuning

FIXED = ("stage2.epochs=2", "encoder.backbone=some/model")
TRIALS_RUN = (
    TrialRecord(1, "finished", 0.5, {"stage2.lr": "1e-03", "gnn.layers": "1"}, (0.4, 0.5), 1.0),
    TrialRecord(2, "pruned", None, {"stage2.lr": "1e-05", "gnn.layers": "2"}, (0.1,), 0.5),
    TrialRecord(3, "finished", 0.75, {"stage2.lr": "2e-05", "gnn.layers": "3"}, (0.6, 0.7), 1.0),
    TrialRecord(4, "failed", None, {"stage2.lr": "9", "gnn.layers": "3"}, (), 0.1, "the loss is nan"),
    TrialRecord(5, "finished", 0.75, {"stage2.lr": "3e-05", "gnn.layers": "3"}, (0.6, 0.7), 1.0),
)


def test_finished_trials_are_ranked_equal_ones_by_number(tmp_path):
    tuning = Tuning(tmp_path, TRIALS_RUN, FIXED, "mAP")
    assert [trial.number for trial in tuning.ranked] == [3, 5, 1]
    assert tuning.best_settings == (*FIXED, "stage2.lr=2e-05", "gnn.layers=3")


def test_what_is_written(tmp_path):
    tuning = Tuning(tmp_path, TRIALS_RUN, FIXED, "mAP")
    write_tuning(tuning)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([BEST, HISTORY, TRIALS])
    saved = artifacts.read_json(tmp_path / TRIALS)["trials"]
    assert saved == artifacts.as_json([dataclasses.asdict(trial) for trial in TRIALS_RUN])
    best = yaml.safe_load((tmp_path / BEST).read_text(encoding="utf-8"))
    assert best == {
        "stage2": {"epochs": 2, "lr": 2e-05}, "encoder": {"backbone": "some/model"}, "gnn": {"layers": 3},
    }  # fmt: skip
    assert overlaid(RunConfig(), best, place=BEST) == with_settings(RunConfig(), tuning.best_settings)


def test_a_search_without_a_finished_trial_says_why_and_keeps_its_trials(tmp_path):
    with pytest.raises(RunError, match=r"none of 1 trials finished \(the last: the loss is nan\)"):
        write_tuning(Tuning(tmp_path, TRIALS_RUN[3:4], FIXED, "mAP"))
    assert [path.name for path in tmp_path.iterdir()] == [TRIALS]
