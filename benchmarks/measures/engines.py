"""Index engines side by side: recall and latency with and without filters, time to write, memory, disk."""

from __future__ import annotations

import tempfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.engine_trial import DEPTH, conditions
from benchmarks.processes import run_step
from benchmarks.rows import Row, not_measured
from benchmarks.settings import Settings

MIN_RECALL = 0.99
ASKED = f"recall@{DEPTH} of {MIN_RECALL}"
PACKAGES = {"faiss": "faiss", "lance": "lancedb", "milvus": "milvus_lite"}
QUICK_ARTICLES = 2_000


def measure(settings: Settings) -> list[Row]:
    """Return the rows of 30,000 synthetic articles, a national code, in every engine that is installed."""
    return _rows(QUICK_ARTICLES if settings.quick else 30_000, PACKAGES, quick=settings.quick)


def measure_million(settings: Settings) -> list[Row]:
    """Return the rows of a million synthetic articles in every engine but Milvus: minutes, and 8 GB of disk."""
    n_articles = QUICK_ARTICLES if settings.quick else 1_000_000
    rows = _rows(n_articles, {name: PACKAGES[name] for name in ("faiss", "lance")}, quick=settings.quick)
    why = "No cluster was at hand, and Milvus Lite is not meant for more than a million vectors."
    return [*rows, not_measured(f"engine milvus, {n_articles:,} articles", against="", asked=ASKED, why=why)]


def _rows(n_articles: int, engines: dict[str, str], *, quick: bool) -> list[Row]:
    """Return the rows of each engine whose package is installed, over the same synthetic articles and columns."""
    installed = [name for name, package in engines.items() if find_spec(package)]
    counts = {"n_articles": n_articles, "n_queries": 10 if quick else 100}
    written, searched = {}, {}
    with tempfile.TemporaryDirectory(prefix="statgraph-engines-") as name:
        folder = Path(name)
        run_step("index_trial", "draw", folder, n_articles=n_articles, precision="float32")
        run_step("engine_trial", "best", folder, n_queries=counts["n_queries"])
        for engine in installed:
            written[engine] = run_step("engine_trial", "write", folder, engine=engine)
            searched[engine] = run_step("engine_trial", "search", folder, engine=engine, **counts)
        compared = run_step("engine_trial", "compare", folder, engines=installed, **counts)
    note = f"The engines took turns, question by question, while the machine had a load of {compared['load']:.1f}."
    rows = []
    for engine, package in engines.items():
        what = f"engine {engine}, {n_articles:,} articles"
        if engine not in installed:
            rows.append(not_measured(what, against="", asked=ASKED, why=f"{package} was not installed."))
            continue
        for condition in conditions():
            seconds, recall = compared["seconds"][engine][condition], searched[engine]["recall"][condition]
            reached = f"recall {recall:.3f}; p50 {1000 * float(np.median(seconds)):.2f} ms"
            holds, figures = recall >= MIN_RECALL, {"seconds": seconds}
            rows.append(Row(f"{what}, {condition}", "", ASKED, reached, holds, figures, note))
        writing, searching = written[engine], searched[engine]
        reached = (
            f"written in {writing['write_s']:,.1f} s, {writing['disk_mib']:,.0f} MiB on disk; peak of the writing "
            f"process {writing['peak_mib']:,} MiB, of a searching one {searching['peak_mib']:,} MiB; opened in "
            f"{searching['open_s']:.2f} s"
        )
        figures = {"written": writing, "searched": searching}
        rows.append(Row(f"{what}, memory and writing", "", "", reached, None, figures))
    return rows
