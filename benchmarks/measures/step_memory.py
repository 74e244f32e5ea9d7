"""The peak memory of each step from a corpus to a hit, each command in a process of its own."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.command_peak import CommandPeak, peak_of
from benchmarks.rows import Row
from benchmarks.settings import Settings
from statgraph.law.store import read_corpus
from statgraph.runs.article_store import ARTICLES
from statgraph.runs.run import Run

STATIC, TRANSFORMER = "embedded:static", "embedded:multilingual-e5-small"
ASKED_MIB = 4096
QUESTION = "Qui doit payer les travaux ?"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of building the graph, training, indexing, searching and evaluating, by backbone."""
    corpus = read_corpus(settings.corpus)
    about = f"{corpus.name}, {len(corpus.articles):,} articles"
    with tempfile.TemporaryDirectory() as folder:
        graph = peak_of(["build-graph", str(settings.corpus), "--out", str(Path(folder) / "graph")])
        rows = [row_of(f"`build-graph`: {about}", graph, asked_mib=None)]
        for backbone in (STATIC,) if settings.quick else (STATIC, TRANSFORMER):
            rows += _rows_of_backbone(settings, Path(folder) / backbone.partition(":")[2], backbone, about)
    return rows


def row_of(what: str, peak: CommandPeak, *, asked_mib: int | None, note: str = "") -> Row:
    """Return the row of a command; it holds where its peak is below what was asked, if anything was."""
    asked = "" if asked_mib is None else f"under {asked_mib // 1024} GiB"
    holds = None if asked_mib is None else peak.peak_mib < asked_mib
    reached = f"{peak.peak_mib:,} MiB, {peak.seconds:.3g} s"
    return Row(f"peak memory: {what}", "", asked, reached, holds, {"peak_mib": peak.peak_mib, "s": peak.seconds}, note)


def _rows_of_backbone(settings: Settings, run: Path, backbone: str, about: str) -> list[Row]:
    of = f"{about}, {backbone}"
    short = ["--set", "stage2.epochs=1", "--set", "stage2.min_epoch_steps=0"] if settings.quick else []
    corpus = ["--corpus", str(settings.corpus)]
    options = ["--set", f"encoder.backbone={backbone}", *short, "--out", str(run)]
    train = peak_of(["train", "--system", "qabisar", "--device", "cpu", *corpus, *options])
    rows = [row_of(f"`train --system qabisar`: {of}", train, asked_mib=ASKED_MIB, note=_steps_note(run, backbone))]
    texts_mib = (run / ARTICLES).stat().st_size / 2**20
    note = f"The texts and paths on disk have {texts_mib:,.0f} MiB; only those of the hits are read."
    rows.append(row_of(f"`search`: {of}", peak_of(["search", QUESTION, "--run", str(run)]), asked_mib=None, note=note))
    evaluate = ["evaluate", "--run", str(run), "--split", "dev", *corpus]
    rows.append(row_of(f"`evaluate --split dev`: {of}", peak_of(evaluate), asked_mib=None))
    index = peak_of(["index", "--run", str(run), "--kind", "ivf-pq"])
    return [*rows, row_of(f"`index --kind ivf-pq`: {of}", index, asked_mib=None)]


def _steps_note(run: Path, backbone: str) -> str:
    steps = "; ".join(
        f"{step['name']} {step['seconds']:.3g} s, {step['peak_mib']:,} MiB" for step in Run.read(run).steps
    )
    cached = "" if backbone == STATIC else " Chunk vectors from the cache, where an earlier run had left them."
    return f"By the end of each step: {steps}.{cached}"
