import json
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from statgraph.config import LAST
from statgraph.errors import RunError
from statgraph.training.checkpoints import MetricsLog, load_progress, load_weights, save_checkpoint
from statgraph.training.loop import Schedule, TrainingContext, ahead, chosen_epochs, train_stage

CPU = torch.device("cpu")
SCHEDULE = Schedule(epochs=5, warmup=0.2, weight_decay=0.01, patience=0)
DEV = [0.1, 0.5, 0.4, 0.6, 0.6, 0.2]  # best after epoch 3, the first of equals


class Killed(Exception):  # noqa: N818
    """Stands for a kill: raised from a listener."""


class LineStage:
    """Fits a line to noisy points, with dropout; dev quality is read off a list, one value for each evaluation, and
    so is dev R@200 where there is one."""

    name = "line"
    uses_graph = False
    steps_per_epoch = 4

    def __init__(self, dev: list[float] | None = None, recalls: list[float] | None = None):
        torch.manual_seed(1)
        self.model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
        self.dev = dev
        self.recalls = recalls
        self.evaluations = 0
        self.changes = 0
        self.rates: list[tuple[float, float]] = []
        self.modes: list[bool] = []
        self.begun: list[tuple[int, int, bool]] = []
        self.optimizer_groups: list[dict] = []

    def parameter_groups(self):
        self.optimizer_groups = [
            {"params": list(self.model[0].parameters()), "lr": 0.1},
            {"params": list(self.model[2].parameters()), "lr": 0.02},
        ]
        return self.optimizer_groups

    def weights(self):
        return self.model.state_dict()

    def load_weights(self, weights):
        self.model.load_state_dict(weights)

    def weights_changed(self):
        self.changes += 1

    def set_training(self, on):
        self.model.train(on)

    def begin_epoch(self, epoch, epochs):
        self.begun.append((epoch, epochs, self.model.training))

    def batches(self, rng):
        for _ in range(4):
            yield torch.from_numpy(rng.standard_normal((6, 3)).astype(np.float32))

    def loss(self, batch):
        self.modes.append(self.model.training)
        return (self.model(batch).squeeze(1) - batch.sum(dim=1)).square().mean()

    def dev_metrics(self):
        assert not self.model.training
        if self.dev is None:
            return None
        epoch = self.evaluations
        self.evaluations += 1
        return {"R@200": 0.1 if self.recalls is None else self.recalls[epoch], "quality": self.dev[epoch]}


@pytest.fixture
def train(tmp_path):
    """Return a function that trains a stage in `tmp_path/NAME`; the log lies beside it."""

    def run(stage, schedule=SCHEDULE, *, name="run", seed=0, **settings):
        log = MetricsLog(tmp_path / f"{name}.jsonl")
        return train_stage(stage, schedule, TrainingContext(seed, CPU, tmp_path / name, log, **settings))

    return run


@pytest.fixture
def optimizers(monkeypatch) -> list[torch.optim.AdamW]:
    """Return the list of the optimisers made in the test; each notes the rates of its steps in `.rates`, and
    how long their gradients are in `.lengths`."""
    made = []

    class Noted(torch.optim.AdamW):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            self.rates, self.lengths = [], []
            made.append(self)

        def step(self, closure=None):
            self.rates.append([group["lr"] for group in self.param_groups])
            gradients = [weight.grad for group in self.param_groups for weight in group["params"]]
            self.lengths.append(float(torch.cat([gradient.flatten() for gradient in gradients]).norm()))
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Noted)
    return made


def same(one, other) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def copied(stage) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in stage.weights().items()}


def log_of(path: Path) -> list[dict]:
    return [{**json.loads(line), "seconds": None} for line in path.read_text().splitlines()]


def killed_at(epoch: int, step: int):
    def listen(at):
        if (at.epoch, at.done) == (epoch, step):
            raise Killed

    return listen


@pytest.mark.parametrize(
    ("schedule", "factors"),
    [
        (SCHEDULE, [1 / 4, 2 / 4, 3 / 4, 1, *(left / 16 for left in range(15, -1, -1))]),  # 20 steps, 4 to warm up
        (Schedule(epochs=2, warmup=0.0, weight_decay=0.0, patience=0), [1, *(left / 7 for left in range(6, -1, -1))]),
    ],
)
def test_rates_rise_and_fall_by_hand(train, optimizers, schedule, factors):
    train(LineStage(), schedule)
    (optimizer,) = optimizers
    assert np.allclose(optimizer.rates, [[0.1 * factor, 0.02 * factor] for factor in factors], atol=1e-12)


@pytest.mark.parametrize("clip", [0.0, 0.01, 1e6])
def test_long_gradients_are_clipped(train, optimizers, clip):
    train(LineStage(), replace(SCHEDULE, clip=clip))
    (optimizer,) = optimizers
    if clip == 0.01:
        assert optimizer.lengths == pytest.approx([clip] * 20, rel=1e-3)
    else:
        assert max(optimizer.lengths) > 0.1


def test_the_optimiser_is_the_papers(train, optimizers):
    train(LineStage(), Schedule(epochs=1, warmup=0.05, weight_decay=0.03, patience=0))
    for group in optimizers[0].param_groups:
        assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.9, 0.999), 1e-7, 0.03)


def test_training_lowers_the_loss_and_leaves_the_groups_alone(train, tmp_path):
    stage = LineStage()
    train(stage)
    losses = [record["loss"] for record in log_of(tmp_path / "run.jsonl")]
    assert losses[0] is None
    assert losses[5] < 0.7 * losses[1]
    assert [group["lr"] for group in stage.optimizer_groups] == [0.1, 0.02]
    assert all(stage.modes)
    assert not stage.model.training
    assert stage.changes == 20  # one a step


def test_the_best_epoch_is_kept(train, tmp_path):
    stage, line = LineStage(dev=[0.1, 0.3, 0.6, 0.6, 0.2, 0.4]), tmp_path / "run" / "line"  # of equals the first
    best = train(stage)
    assert (best["epoch"], best["quality"], best["stage"]) == (2, 0.6, "line")
    assert same(stage.weights(), load_weights(line / "best"))
    assert not same(stage.weights(), load_weights(line / "last"))
    assert (load_progress(line / "best"), load_progress(line / "last")["epoch"]) == (best, 5)
    shorter = LineStage(dev=[0.1, 0.3, 0.6, 0.6, 0.2, 0.4])
    with pytest.raises(Killed):
        train(shorter, name="shorter", progress=killed_at(3, 9))
    assert same(stage.weights(), load_weights(tmp_path / "shorter" / "line" / "last"))  # the weights of epoch 2


@pytest.mark.parametrize(
    ("recalls", "qualities", "epoch"),
    [
        ([0.5, 0.6, 0.5, 0.4, 0.3, 0.2], [0.9, 0.1, 0.9, 0.9, 0.9, 0.9], 1),
        ([1.0] * 6, [0.2, 0.3, 0.1, 0.6, 0.6, 0.5], 3),  # on a small law every epoch may find all
        ([1.0] * 6, [0.9, 0.3, 0.4, 0.4, 0.2, 0.1], 0),
    ],
)
def test_another_metric_may_decide_and_then_quality_and_epoch_0_counts(train, tmp_path, recalls, qualities, epoch):
    stage, heard = LineStage(dev=qualities, recalls=recalls), []
    before = copied(stage)
    best = train(stage, metric="R@200", progress=heard.append)
    assert (best["epoch"], best["quality"]) == (epoch, qualities[epoch])
    assert {(each.metric, each.dev) for each in heard if each.epoch == 2} == {("R@200", recalls[1])}
    assert same(stage.weights(), load_weights(tmp_path / "run" / "line" / "best"))
    assert same(stage.weights(), before) == (epoch == 0)


def test_the_last_epoch_is_kept_where_that_is_asked(train, tmp_path):
    best = train(LineStage(dev=[0.9, 0.3, 0.6, 0.6, 0.2, 0.4]), metric=LAST)
    assert (best["epoch"], best["quality"]) == (5, 0.4)


def test_without_dev_questions_the_last_epoch_is_kept(train, tmp_path):
    stage = LineStage(dev=None)
    best = train(stage, Schedule(epochs=3, warmup=0.0, weight_decay=0.0, patience=1))
    assert best["epoch"] == 3
    assert "quality" not in best
    assert same(stage.weights(), load_weights(tmp_path / "run" / "line" / "last"))


def test_a_final_stage_stops_after_the_epoch_that_another_run_kept(train, tmp_path, optimizers):
    kept = train(LineStage(dev=DEV))
    stops = chosen_epochs(MetricsLog(tmp_path / "run.jsonl").records(), "quality")
    assert stops == {"line": kept["epoch"]} == {"line": 3}
    stage = LineStage(dev=None)
    assert train(stage, name="final", stops=stops)["epoch"] == 3
    assert [record["epoch"] for record in log_of(tmp_path / "final.jsonl")] == [0, 1, 2, 3]
    # The same data and the same schedule: the weights that were kept.
    assert same(stage.weights(), load_weights(tmp_path / "run" / "line" / "best"))
    whole, final = optimizers
    assert final.rates == whole.rates[: 3 * LineStage.steps_per_epoch]


def test_a_final_stage_may_stay_untrained_but_not_go_by_nothing(train):
    stage = LineStage(dev=None)
    before = copied(stage)
    train(stage, stops={"line": 0})
    assert same(stage.weights(), before)
    with pytest.raises(RunError, match="line"):
        train(LineStage(dev=None), stops={"other": 2}, name="other")


@pytest.mark.parametrize(("patience", "epochs"), [(0, 5), (1, 2), (2, 5), (3, 5)])
def test_patience_counts_epochs_without_a_better_one(train, tmp_path, patience, epochs):
    stage = LineStage(dev=[0.1, 0.5, 0.4, 0.6, 0.6, 0.2])
    train(stage, Schedule(epochs=5, warmup=0.0, weight_decay=0.0, patience=patience))
    assert log_of(tmp_path / "run.jsonl")[-1]["epoch"] == epochs


@pytest.mark.parametrize(("epoch", "step", "dev"), [(1, 1, DEV), (2, 5, DEV), (3, 10, None), (5, 20, DEV)])
def test_a_killed_run_ends_with_the_same_numbers(train, tmp_path, epoch, step, dev):
    whole, killed = LineStage(dev), LineStage(dev)
    wanted = train(whole, name="whole")
    with pytest.raises(Killed):
        train(killed, name="killed", progress=killed_at(epoch, step))
    heard = []
    resumed = LineStage(dev)
    resumed.evaluations = epoch if epoch > 1 else 0  # the dev scores go on where the checkpoint stands
    best = train(resumed, name="killed", resume=True, progress=heard.append)
    assert {**best, "seconds": None} == {**wanted, "seconds": None}
    assert same(resumed.weights(), whole.weights())
    assert same(load_weights(tmp_path / "killed" / "line" / "last"), load_weights(tmp_path / "whole" / "line" / "last"))
    assert log_of(tmp_path / "killed.jsonl") == log_of(tmp_path / "whole.jsonl")
    assert (heard[0].epoch, heard[0].dev) == (epoch, dev and dev[epoch - 1])


def test_a_killed_run_in_float16_goes_on_with_its_scale(train, tmp_path, monkeypatch):
    monkeypatch.setattr("statgraph.training.steps.training_dtype", lambda device: torch.float16)

    whole, killed, resumed = LineStage(DEV), LineStage(DEV), LineStage(DEV)
    wanted = train(whole, name="whole")
    with pytest.raises(Killed):
        train(killed, name="killed", progress=killed_at(3, 10))
    scaling = load_progress(tmp_path / "killed" / "line" / "last")["scaling"]
    assert (scaling["scale"] < 65536, scaling["_growth_tracker"] < 8) == (True, True)  # the first steps overflowed
    resumed.evaluations = 3
    best = train(resumed, name="killed", resume=True)
    assert {**best, "seconds": None} == {**wanted, "seconds": None}
    assert "scaling" not in best
    assert same(resumed.weights(), whole.weights())
    assert log_of(tmp_path / "killed.jsonl") == log_of(tmp_path / "whole.jsonl")


def test_a_kill_between_the_log_and_the_checkpoint_is_made_good(train, tmp_path, monkeypatch):
    whole, killed, resumed = LineStage(DEV), LineStage(DEV), LineStage(DEV)
    train(whole, name="whole")
    saved = []

    def save(folder, *args):
        if len(saved) == 5:  # best 0; best 1, last 1; last 2; best 3; and now comes last 3
            raise Killed
        saved.append(folder.name)
        return save_checkpoint(folder, *args)

    with monkeypatch.context() as patch:
        patch.setattr("statgraph.training.loop.save_checkpoint", save)
        with pytest.raises(Killed):
            train(killed, name="killed")
    assert saved == ["best", "best", "last", "last", "best"]
    resumed.evaluations = load_progress(tmp_path / "killed" / "line" / "last")["epoch"] + 1
    train(resumed, name="killed", resume=True)
    assert same(resumed.weights(), whole.weights())
    assert log_of(tmp_path / "killed.jsonl") == log_of(tmp_path / "whole.jsonl")


@pytest.mark.parametrize("missing", ["best", "last"])
def test_a_half_missing_checkpoint_starts_the_stage_again(train, tmp_path, missing):
    whole, resumed = LineStage(DEV), LineStage(DEV)
    train(whole)
    (tmp_path / "run" / "line" / missing).rename(tmp_path / f"retired-{missing}")
    lines = log_of(tmp_path / "run.jsonl")
    train(resumed, resume=True)
    assert same(resumed.weights(), whole.weights())
    assert log_of(tmp_path / "run.jsonl") == lines


@pytest.mark.parametrize("patience", [0, 1])
def test_resuming_a_finished_stage_changes_nothing(train, tmp_path, patience):
    schedule = Schedule(epochs=5, warmup=0.2, weight_decay=0.01, patience=patience)
    stage, again = LineStage(DEV), LineStage(DEV)
    wanted = train(stage, schedule)
    files = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    heard = []
    assert train(again, schedule, resume=True, progress=heard.append) == wanted
    assert heard == []
    assert again.evaluations == 0
    assert same(again.weights(), stage.weights())
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == files


def test_without_resume_an_old_checkpoint_is_forgotten(train, tmp_path):
    train(LineStage(DEV))
    stage, fresh = LineStage(DEV), LineStage(DEV)
    train(stage, seed=1)
    train(fresh, seed=1, name="fresh")
    assert same(stage.weights(), fresh.weights())
    assert log_of(tmp_path / "run.jsonl") == log_of(tmp_path / "fresh.jsonl")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_loss_that_is_not_finite_stops_the_run(train, tmp_path, value):
    class Diverging(LineStage):
        def loss(self, batch):
            return super().loss(batch) * (value if len(self.modes) == 6 else 1.0)

    with pytest.raises(RunError, match=rf"line, epoch 2, step 6: the loss is {value}; .*line\.lr"):
        train(Diverging())
    weights = load_weights(tmp_path / "run" / "line" / "last")
    assert load_progress(tmp_path / "run" / "line" / "last")["epoch"] == 1
    assert all(tensor.isfinite().all() for tensor in weights.values())


def test_a_batch_is_made_while_the_one_before_it_is_in_use():
    made, threads = [threading.Event() for _ in range(3)], set()

    def batches():
        for number, event in enumerate(made):
            threads.add(threading.current_thread())
            event.set()
            yield number

    seen = []
    for batch in ahead(batches(), lambda: threads.add(threading.current_thread())):
        if batch < 2:
            assert made[batch + 1].wait(10)
        seen.append(batch)
    assert (seen, len(threads)) == ([0, 1, 2], 1)
    assert threading.current_thread() not in threads


def test_what_fails_in_the_thread_fails_where_the_batch_is_wanted():
    def batches():
        yield 1
        raise RunError("no more")

    coming = ahead(batches())
    assert next(coming) == 1
    with pytest.raises(RunError, match="no more"):
        next(coming)
    assert list(ahead(iter(()))) == []
