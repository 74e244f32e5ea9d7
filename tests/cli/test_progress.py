import io

from rich.console import Console

from statgraph.cli import progress as module
from statgraph.cli.progress import TerminalProgress
from statgraph.training.loop import TrainingProgress


def shown(monkeypatch, *, terminal: bool) -> str:
    """Return what a run of two kinds of steps leaves on standard error."""
    written = io.StringIO()
    monkeypatch.setattr(
        "rich.console.Console", lambda stderr: Console(file=written, force_terminal=terminal, width=100, stderr=stderr)
    )
    with TerminalProgress() as progress:
        progress.on_step("embedding", 3, 4)
        progress.on_training(TrainingProgress("stage2", 1, 2, step=5, steps=10, loss=1.23456, dev=None))
        progress.on_training(TrainingProgress("stage2", 2, 2, step=10, steps=10, loss=0.5, dev=0.876))
    return written.getvalue()


def test_a_terminal_shows_loss_and_dev_recall(monkeypatch):
    text = shown(monkeypatch, terminal=True)
    for part in ("embedding", "3/4", "stage2", "10/10", "epoch 2/2", "loss 0.500", "dev R@200 87.6"):
        assert part in text


def test_elsewhere_nothing_is_shown(monkeypatch):
    assert shown(monkeypatch, terminal=False).strip() == ""


def test_rich_loads_with_the_bar_only():
    assert not hasattr(module, "Console")
