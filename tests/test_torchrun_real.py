"""Training in several processes that are killed: `make real`. Both ends of a network are namespaces of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest

from statgraph.retrieval.index.article_index import ArticleIndex

pytestmark = pytest.mark.real

REPO = Path(__file__).parents[1]
PATIENCE_S = 900
# Nothing is drawn that processes draw apart, so that what they end with is that of one process, up to rounding.
SETTINGS = (
    *("encoder.backbone=embedded:static", "encoder.token_dropout=0", "encoder.article_dropout=0", "gnn.dropout=0"),
    *("gnn.fanout=-1", "stage2.epochs=3", "stage2.min_epoch_steps=0", "device=cpu"),
)


def command(out: Path, *torchrun: object, resume: bool = False) -> list[str]:
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    training = ("-m", "statgraph.cli", "train", "--system", "qabisar", "--out", out, *settings, *["--resume"] * resume)
    launcher = (sys.executable, "-m", "torch.distributed.run", *torchrun) if torchrun else (sys.executable,)
    return [str(word) for word in (*launcher, *training)]


@contextmanager
def started(words: list[str], **environment: str) -> Iterator[subprocess.Popen]:
    own = {"PYTHONPATH": str(REPO), "OMP_NUM_THREADS": "1", **environment}
    process = subprocess.Popen(
        words, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.terminate()  # torchrun takes its workers along
        process.communicate()


def ended(process: subprocess.Popen) -> tuple[int, str]:
    _, said = process.communicate(timeout=PATIENCE_S)
    return process.returncode, said


def log_of(run: Path) -> list[dict]:
    with suppress(FileNotFoundError):
        return [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines(keepends=False)]
    return []


def wait_for(happened: Callable[[], object]) -> object:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := happened():
            return found
        time.sleep(0.05)
    raise TimeoutError


def kill_rank(rank: int, run: Path, *launchers: subprocess.Popen) -> None:
    """Kill a process of a run's training once its first epoch is on disk."""
    wait_for(lambda: len(log_of(run)) >= 2 or any(launcher.poll() is not None for launcher in launchers))
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            mine = b"train" in words and str(run).encode() in words and b"torch.distributed.run" not in words
            if mine and f"RANK={rank}".encode() in (process / "environ").read_bytes().split(b"\0"):
                os.kill(int(process.name), signal.SIGKILL)
                return
    raise AssertionError(f"no process of rank {rank}")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    """Return the run that one process trains in one go."""
    run = tmp_path_factory.mktemp("runs") / "one"
    with started(command(run)) as process:
        assert ended(process)[0] == 0
    return run


def check_equal(run: Path, expected: Path) -> None:
    """The figures of dev are equal to a thousandth, losses to a ten-thousandth, vectors to 1e-3."""
    for found, wanted in zip(log_of(run), log_of(expected), strict=True):
        assert wanted["epoch"] == 0 or found["loss"] == pytest.approx(wanted["loss"], rel=1e-4)
        assert {name: found[name] for name in ("epoch", "mAP", "R@10", "quality")} == {
            "epoch": wanted["epoch"],
            **{name: pytest.approx(wanted[name], abs=1e-3) for name in ("mAP", "R@10", "quality")},
        }
    vectors, others = (np.asarray(ArticleIndex.load(each / "index", device="cpu").vectors) for each in (run, expected))
    np.testing.assert_allclose(vectors, others, atol=1e-3)


def processes_of(run: Path) -> int:
    return json.loads((run / "manifest.json").read_text())["processes"]


def test_a_killed_rank_then_resumed_by_three_processes(undisturbed, tmp_path):
    run = tmp_path / "run"
    with started(command(run, "--standalone", "--nproc-per-node", 2)) as process:
        kill_rank(1, run, process)
        assert ended(process)[0] != 0
    assert not (run / "manifest.json").exists()
    with started(command(run, "--standalone", "--nproc-per-node", 3, resume=True)) as process:
        assert ended(process)[0] == 0
    assert processes_of(run) == 3
    check_equal(run, undisturbed)
