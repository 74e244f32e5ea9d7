"""`statgraph train` as it is by default, in a process of its own, with nothing embedded before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.command_peak import peak_of
from benchmarks.rows import Row
from benchmarks.settings import Settings
from statgraph.corpus.store import read_corpus
from statgraph.runs.run import Run

_ASKED_MINUTES = {"legi-fr": 12, "gerlayqa": 8}


def measure(settings: Settings) -> list[Row]:
    """Return the row of training the default ensemble, or `--fast` for a quick look."""
    corpus = read_corpus(settings.corpus)
    minutes = _ASKED_MINUTES.get(corpus.name)
    with tempfile.TemporaryDirectory() as folder, _cache(Path(folder) / "cache"):
        run = Path(folder) / "run"
        command = ["train", "--fast"] if settings.quick else ["train"]
        taken = peak_of([*command, "--corpus", str(settings.corpus), "--device", "cpu", "--out", str(run)])
        steps = "; ".join(f"{step['name']} {step['seconds']:.3g} s" for step in Run.read(run).steps)
    about = f"{corpus.name}, {len(corpus.articles):,} articles, {len(corpus.split('train')):,} questions"
    return [
        Row(
            f"`{' '.join(command)}`, embedding included: {about}",
            "",
            "" if minutes is None else f"under {minutes} min",
            f"{taken.seconds / 60:.1f} min, {taken.peak_mib:,} MiB",
            None if minutes is None else taken.seconds < 60 * minutes,
            {"s": taken.seconds, "peak_mib": taken.peak_mib},
            f"By step: {steps}.",
        )
    ]


@contextmanager
def _cache(folder: Path) -> Iterator[None]:
    """Keep what is embedded in a folder of its own, where nothing is yet."""
    before = os.environ.get("STATGRAPH_CACHE")
    os.environ["STATGRAPH_CACHE"] = str(folder)
    try:
        yield
    finally:
        del os.environ["STATGRAPH_CACHE"]
        if before is not None:
            os.environ["STATGRAPH_CACHE"] = before
