"""`statgraph train` as it is by default, in a process of its own, with nothing embedded before."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measuring import Row, Settings, peak_of
from statgraph.law.store import read_corpus
from statgraph.runs.run import RunFolder


def measure(settings: Settings) -> list[Row]:
    """Return the row of training the default ensemble, or `--fast` for a quick look."""
    corpus = read_corpus(settings.corpus)
    with tempfile.TemporaryDirectory() as folder:
        run, cache = Path(folder) / "run", Path(folder) / "cache"
        command = ["train", "--fast"] if settings.quick else ["train"]
        options = ["--corpus", str(settings.corpus), "--device", "cpu", "--out", str(run)]
        seconds, peak_mib = peak_of([*command, *options], STATGRAPH_CACHE=str(cache))
        steps = {step["name"]: step["seconds"] for step in RunFolder.read(run).steps}
    about = f"{corpus.name}, {len(corpus.articles):,} articles, {len(corpus.split('train')):,} questions"
    what, reached = f"`{' '.join(command)}`, embedding included: {about}", f"{seconds / 60:.1f} min, {peak_mib:,} MiB"
    return [Row(what, "", reached, {"s": seconds, "peak_mib": peak_mib, "steps": steps})]
