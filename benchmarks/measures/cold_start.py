"""From the shell to the first hit, and to the help: each time in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.rows import Row, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, taking_turns
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.runs.run import Run

LAUNCHER = Path(__file__).parents[2] / "cli.py"
QUESTION = "Who gets the deposit back?"
HELP_S, SAMPLE_S, OTHER_S = 0.3, 3.0, 5.0
_SHORT_TRAINING = (
    "encoder.backbone=embedded:static",
    *(f"{stage}.{setting}" for stage in ("stage1", "stage2") for setting in ("epochs=1", "min_epoch_steps=0")),
)
_NOTE = "Whole processes, until the last hit is printed; the files are in the system's cache after an untimed round."


def measure(settings: Settings) -> list[Row]:
    """Return the rows of the run that was named, of a run of the embedded sample where that is another corpus, and of
    the help."""
    rounds = 1 if settings.quick else 5
    corpus, run = settings.corpus_and_run()
    on_sample = settings.corpus.resolve() == sample_folder().resolve()
    asked_s = SAMPLE_S if on_sample else OTHER_S
    with tempfile.TemporaryDirectory() as folder:
        works = {_about(run, len(corpus.articles)): (search_command(run), asked_s)}
        if not on_sample:
            sample = Path(folder) / "run"
            _run(
                [
                    sys.executable,
                    str(LAUNCHER),
                    "train",
                    "--system",
                    "qabisar",
                    "--out",
                    str(sample),
                    *_set(_SHORT_TRAINING),
                ]
            )
            n_articles = len(read_corpus(sample_folder()).articles)
            works[_about(sample, n_articles)] = (search_command(sample), SAMPLE_S)
        works["`statgraph --help`"] = ([sys.executable, str(LAUNCHER), "--help"], HELP_S)
        seconds = taking_turns(
            {what: lambda command=command: _run(command) for what, (command, _) in works.items()}, rounds=rounds
        )
    return [row_of(what, seconds[what], asked_s) for what, (_, asked_s) in works.items()]


def search_command(run: Path) -> list[str]:
    """Return the command of one search in a run."""
    return [sys.executable, str(LAUNCHER), "search", QUESTION, "--run", str(run)]


def row_of(what: str, seconds: Sequence[float], asked_s: float) -> Row:
    """Return the row of a command: it holds where the median is below what was asked."""
    spread = Spread.of(seconds)
    holds = spread.median < asked_s
    return Row(what, "", f"under {asked_s:g} s", seconds_text(spread), holds, {"seconds": list(seconds)}, _NOTE)


def _about(run: Path, n_articles: int) -> str:
    opened = Run.read(run)
    backbone = opened.config.encoder.backbone
    return f"`statgraph search` from the shell: {opened.corpus.name}, {n_articles:,} articles, {backbone}"


def _set(values: Sequence[str]) -> list[str]:
    return [part for value in values for part in ("--set", value)]


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}; mend it before it is timed")
