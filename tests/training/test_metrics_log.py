import json

import pytest

from statgraph.training.metrics_log import MetricsLog


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


def test_one_line_for_each_record(tmp_path, log):
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == log.records()
    assert log.records()[0] == {"stage": "stage1", "epoch": 0, "loss": 0.5}
    assert len(lines) == 5


def test_no_file_has_no_records(tmp_path):
    assert MetricsLog(tmp_path / "metrics.jsonl").records() == []


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


def test_taking_back_leaves_one_file(tmp_path, log):
    log.take_back("stage1", 0)
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]
