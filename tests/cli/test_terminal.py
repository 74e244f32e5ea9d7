import io

from rich.console import Console

from statgraph.cli.terminal import ProgressLines, TerminalProgress
from statgraph.progress import Step, TrainingStep


def shown(monkeypatch, *, terminal: bool, width: int = 100) -> str:
    """Return what a run of two kinds of steps leaves on standard error."""
    written = io.StringIO()
    settings = {"file": written, "force_terminal": terminal, "width": width}
    monkeypatch.setattr("rich.console.Console", lambda stderr: Console(stderr=stderr, **settings))
    with TerminalProgress() as progress:
        progress(Step("embedding articles", 3, 4))
        progress(TrainingStep("stage2", 5, 10, epoch=1, epochs=2, loss=1.23456))
        progress(TrainingStep("stage2", 10, 10, 20, 20, 0.5, 0.876, "quality"))
    return written.getvalue()


def test_a_terminal_shows_loss_and_dev_metric(monkeypatch):
    text = shown(monkeypatch, terminal=True)
    for part in ("embedding", " 75%", "stage2", "100%", "epoch 20/20", "loss 0.500", "dev quality 87.6"):
        assert part in text


def test_elsewhere_short_steps_are_not_shown(monkeypatch):
    assert shown(monkeypatch, terminal=False).strip() == ""


def test_elsewhere_a_long_step_is_told_of_now_and_then(capsys):
    now = [0.0]
    lines = ProgressLines(lambda: now[0])
    for second, done in ((0, 10), (5, 20), (12, 34), (30, 70), (73, 152), (80, 1000), (200, 5), (209, 50)):
        now[0] = second
        lines.add(Step("embedding articles", done, 1000))
    assert capsys.readouterr().err.splitlines() == [
        "embedding articles: 3%, about 8 min left",
        "embedding articles: 15%, about 7 min left",
    ]
