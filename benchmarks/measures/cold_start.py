"""From the shell to the first hit, and to the help: each time in a process of its own."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from benchmarks.processes import LAUNCHER, output_of
from benchmarks.rows import Row, Spread, seconds_text, taking_turns
from benchmarks.settings import Settings
from statgraph.law.catalogue import sample_folder
from statgraph.law.store import read_corpus
from statgraph.runs.run import RunFolder

QUESTION = "Who gets the deposit back?"
HELP_S, SAMPLE_S, OTHER_S = 0.3, 3.0, 5.0
_TRAINING = ("train", "--system", "qabisar", "--set", "encoder.backbone=embedded:static")
_NOTE = "Whole processes, until the last hit is printed; the files are in the system's cache after an untimed round."


def measure(settings: Settings) -> list[Row]:
    """Return the rows of the run that was named, of a run of the embedded sample where that is another corpus, and of
    the help."""
    statgraph = [sys.executable, str(LAUNCHER)]
    corpus, run = settings.corpus_and_run()
    on_sample = settings.corpus.resolve() == sample_folder().resolve()
    asked_s = {_about(run, len(corpus.articles)): SAMPLE_S if on_sample else OTHER_S}
    commands = [[*statgraph, "search", QUESTION, "--run", str(run)]]
    with tempfile.TemporaryDirectory() as folder:
        if not on_sample:
            sample = Path(folder) / "run"
            output_of([*statgraph, *_TRAINING, "--out", str(sample)])
            asked_s[_about(sample, len(read_corpus(sample_folder()).articles))] = SAMPLE_S
            commands.append([*statgraph, "search", QUESTION, "--run", str(sample)])
        asked_s["`statgraph --help`"] = HELP_S
        commands.append([*statgraph, "--help"])
        works = {
            what: lambda command=command: output_of(command) for what, command in zip(asked_s, commands, strict=True)
        }
        seconds = taking_turns(works, rounds=1 if settings.quick else 5)
    spreads = {what: Spread.of(values) for what, values in seconds.items()}
    return [
        Row(what, "", f"under {limit:g} s", seconds_text(spread), spread.median < limit, {"s": seconds[what]}, _NOTE)
        for (what, limit), spread in zip(asked_s.items(), spreads.values(), strict=True)
    ]


def _about(run: Path, n_articles: int) -> str:
    opened = RunFolder.read(run)
    backbone = opened.config.encoder.backbone
    return f"`statgraph search` from the shell: {opened.corpus.name}, {n_articles:,} articles, {backbone}"
