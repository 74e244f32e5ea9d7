import io
import json

import pytest
from rich.console import Console

from statgraph.cli.terminal import ProgressLines, TerminalProgress, escape_unwritable, print_table
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


@pytest.mark.parametrize(
    ("encoding", "text", "written"),
    [
        ("latin-1", "café, σκύλος", r"café, \u03c3\u03ba\u03cd\u03bb\u03bf\u03c2"),
        ("cp437", "café, łódź — § 3", r"café, \u0142ód\u017a \u2014 \u00a7 3"),
        ("iso8859-7", "σκύλος, café", r"σκύλος, caf\u00e9"),
        ("latin-1", "😀", r"\ud83d\ude00"),
        ("utf-8", "łódź \udc80", r"łódź \udc80"),
    ],
)
def test_what_a_terminal_cannot_write_is_escaped_as_in_json(encoding, text, written, monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr("sys.stdout", stream)
    escape_unwritable(stream)
    print(json.dumps([text], ensure_ascii=False))
    print_table(["article"], [[text]])
    stream.flush()
    shown = stream.buffer.getvalue().decode(encoding)
    assert shown.startswith(f'["{written}"]')
    assert written in shown.partition("\n")[2]
    assert json.loads(shown.splitlines()[0]) == [text]
