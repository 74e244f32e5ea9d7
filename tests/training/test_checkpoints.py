import re

import pytest
import torch

from statgraph.errors import RunError
from statgraph.training.checkpoints import MetricsLog, load_progress, load_steps, load_weights, save_checkpoint
from statgraph.training.steps import OptimizerSteps

WEIGHTS = {"a": torch.tensor([[1.0, -2.5]]), "b": torch.tensor([3, 4])}


@pytest.fixture
def trained():
    """Return a layer and its AdamW after three steps."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 2)
    steps = steps_of(layer)
    for _ in range(3):
        step(layer, steps)
    return layer, steps


def steps_of(layer) -> OptimizerSteps:
    groups = [{"params": [layer.weight], "lr": 0.1}, {"params": [layer.bias], "lr": 0.2}]
    return OptimizerSteps(torch.optim.AdamW(groups, eps=1e-7), list(layer.parameters()), torch.device("cpu"))


def step(layer, steps) -> None:
    steps.take(lambda: layer(torch.tensor([[1.0, 2.0, -1.0]])).square().sum())


def test_weights_and_progress_come_back(tmp_path):
    assert load_progress(tmp_path / "last") is None
    save_checkpoint(tmp_path / "last", WEIGHTS, {"epoch": 3, "R@200": 0.5})
    loaded = load_weights(tmp_path / "last")
    assert loaded.keys() == WEIGHTS.keys()
    assert all(
        torch.equal(loaded[name], WEIGHTS[name]) and loaded[name].dtype == WEIGHTS[name].dtype for name in loaded
    )
    assert load_progress(tmp_path / "last") == {"epoch": 3, "R@200": 0.5}


def test_views_and_shared_tensors_are_saved_whole(tmp_path):
    table = torch.arange(6.0).view(2, 3)
    save_checkpoint(tmp_path / "last", {"turned": table.T, "same": table, "row": table[1]}, {})
    loaded = load_weights(tmp_path / "last")
    assert torch.equal(loaded["turned"], table.T)
    assert torch.equal(loaded["row"], table[1])


def test_the_optimiser_goes_on_as_if_never_saved(tmp_path, trained):
    layer, steps = trained
    save_checkpoint(tmp_path / "last", layer.state_dict(), {"epoch": 1}, steps)
    again = torch.nn.Linear(3, 2)
    again.load_state_dict(load_weights(tmp_path / "last"))
    fresh = steps_of(again)
    load_steps(tmp_path / "last", fresh)
    moments, wanted = (each.optimizer.state_dict()["state"] for each in (fresh, steps))
    assert moments.keys() == wanted.keys() == {0, 1}
    for number, values in wanted.items():
        assert values.keys() == moments[number].keys() == {"step", "exp_avg", "exp_avg_sq"}
        assert all(torch.equal(values[key], moments[number][key]) for key in values)
    step(layer, steps)
    step(again, fresh)
    assert torch.equal(layer.weight, again.weight)
    assert torch.equal(layer.bias, again.bias)


@pytest.mark.parametrize("damage", [lambda path: path.unlink(), lambda path: path.write_bytes(b"\x00" * 5)])
def test_damaged_files_are_named(tmp_path, trained, damage):
    layer, steps = trained
    folder = tmp_path / "last"
    save_checkpoint(folder, layer.state_dict(), {"epoch": 1}, steps)
    (folder / "progress.json").write_text('{"epoch": ')
    damage(folder / "weights.safetensors")
    damage(folder / "optimizer.safetensors")
    for name, load in (
        ("weights.safetensors", load_weights),
        ("optimizer.safetensors", lambda folder: load_steps(folder, steps)),
        ("progress.json", load_progress),
    ):
        with pytest.raises(RunError, match=rf"^{re.escape(str(folder / name))}: not readable"):
            load(folder)


@pytest.fixture
def log(tmp_path) -> MetricsLog:
    """Two stages: epochs 0 to 2 of the first, 0 and 1 of the second."""
    log = MetricsLog(tmp_path / "metrics.jsonl")
    for stage, epochs in (("stage1", 3), ("stage2", 2)):
        for epoch in range(epochs):
            log.append(stage=stage, epoch=epoch, loss=0.5)
    return log


def places(log: MetricsLog) -> list[tuple[str, int]]:
    return [(record["stage"], record["epoch"]) for record in log.records()]


@pytest.mark.parametrize(
    ("stage", "after", "kept"),
    [
        ("stage2", 0, [("stage1", 0), ("stage1", 1), ("stage1", 2), ("stage2", 0)]),
        ("stage1", 0, [("stage1", 0), ("stage2", 0), ("stage2", 1)]),
        ("stage1", -1, [("stage2", 0), ("stage2", 1)]),
        ("stage1", 2, [("stage1", 0), ("stage1", 1), ("stage1", 2), ("stage2", 0), ("stage2", 1)]),
        ("stage3", -1, [("stage1", 0), ("stage1", 1), ("stage1", 2), ("stage2", 0), ("stage2", 1)]),
    ],
)
def test_lines_past_an_epoch_are_taken_back(log, stage, after, kept):
    log.take_back(stage, after)
    assert places(log) == kept


def test_a_line_cut_short_by_a_kill_is_left_out(tmp_path, log):
    path = tmp_path / "metrics.jsonl"
    path.write_text(path.read_text()[:-12])
    assert places(log) == [("stage1", 0), ("stage1", 1), ("stage1", 2), ("stage2", 0)]
    log.take_back("stage2", 0)
    log.append(stage="stage2", epoch=1, loss=0.5)
    assert places(log) == [("stage1", 0), ("stage1", 1), ("stage1", 2), ("stage2", 0), ("stage2", 1)]


@pytest.mark.parametrize(
    "line",
    [
        "[]", "7", "null", "{}", '{"stage": "stage1"', '{"stage": "stage1", "epoch": "1", "loss": 0.5}',
        '{"stage": 1, "epoch": 1, "loss": 0.5}', '{"stage": "stage1", "epoch": 1, "loss": 0.5, "quality": "high"}',
        '{"stage": "stage1", "epoch": 1, "loss": 0.5, "step_losses": [null]}', '{"stage": "stage1", "epoch": 1}',
    ],
)  # fmt: skip
def test_a_damaged_line_is_named(tmp_path, log, line):
    path = tmp_path / "metrics.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], line, *lines[3:]]) + "\n")
    with pytest.raises(RunError, match=rf"^{re.escape(str(path))}:3: not the record of an epoch; train the run again$"):
        log.records()
