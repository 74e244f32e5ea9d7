"""The peak memory of each step from a corpus to a hit, each command in a process of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.processes import peak_of
from benchmarks.rows import Row
from benchmarks.settings import Settings
from statgraph.law.store import read_corpus
from statgraph.runs.run import RunFolder

STATIC, TRANSFORMER = "embedded:static", "embedded:multilingual-e5-small"
ASKED_MIB = 4096
QUESTION = "Qui doit payer les travaux ?"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of building the graph, training, searching, evaluating and indexing, by backbone."""
    corpus = read_corpus(settings.corpus)
    about = f"{corpus.name}, {len(corpus.articles):,} articles"
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "graph")
        rows = [_row(f"`build-graph`: {about}", ["build-graph", str(settings.corpus), "--out", out])]
        for backbone in (STATIC,) if settings.quick else (STATIC, TRANSFORMER):
            rows += _rows_of_backbone(settings, Path(folder) / backbone.partition(":")[2], backbone, about)
    return rows


def _rows_of_backbone(settings: Settings, run: Path, backbone: str, about: str) -> Iterator[Row]:
    of = f"{about}, {backbone}"
    corpus, in_run = ["--corpus", str(settings.corpus)], ["--run", str(run)]
    short = ["--set", "stage2.epochs=1", "--set", "stage2.min_epoch_steps=0"] if settings.quick else []
    train = ["train", "--system", "qabisar", "--device", "cpu", "--set", f"encoder.backbone={backbone}", *short]
    yield _row(f"`train --system qabisar`: {of}", [*train, *corpus, "--out", str(run)], trained=run)
    yield _row(f"`search`: {of}", ["search", QUESTION, *in_run])
    yield _row(f"`evaluate --split dev`: {of}", ["evaluate", "--split", "dev", *in_run, *corpus])
    yield _row(f"`index --kind ivf-pq`: {of}", ["index", "--kind", "ivf-pq", *in_run])


def _row(what: str, command: list[str], *, trained: Path | None = None) -> Row:
    """Return the row of a command; a training must stay below `ASKED_MIB`, and its steps are noted."""
    seconds, peak_mib = peak_of(command)
    asked, holds, note = "", None, ""
    if trained is not None:
        asked, holds = f"under {ASKED_MIB // 1024} GiB", peak_mib < ASKED_MIB
        steps = RunFolder.read(trained).steps
        texts = [f"{step['name']} {step['seconds']:.3g} s, {step['peak_mib']:,} MiB" for step in steps]
        note = f"By the end of each step: {'; '.join(texts)}."
    reached, figures = f"{peak_mib:,} MiB, {seconds:.3g} s", {"peak_mib": peak_mib, "s": seconds}
    return Row(f"peak memory: {what}", "", asked, reached, holds, figures, note)
