"""Rows of index engines side by side: recall and latency with and without filters, time to write, memory, disk."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

import numpy as np

from benchmarks.engine_trial import DEPTH, conditions
from benchmarks.index_rows import scratch_folder
from benchmarks.rows import Row, not_measured
from benchmarks.trial_steps import run_step

_TRIAL = "engine_trial"
LEAST_RECALL = 0.99
ASKED = f"recall@{DEPTH} of {LEAST_RECALL}"
PACKAGES = {"faiss": "faiss", "lance": "lancedb", "milvus": "milvus_lite"}


def rows_of_engines(n_articles: int, *, n_queries: int, engines: Mapping[str, str] = PACKAGES) -> list[Row]:
    """Return the rows of each engine whose package is installed, over the same synthetic articles and columns."""
    here = [name for name, package in engines.items() if find_spec(package)]
    counts = {"n_articles": n_articles, "n_queries": n_queries}
    figures: dict[str, dict] = {}
    with scratch_folder() as folder:
        run_step("index_trial", "draw", folder, n_articles=n_articles, precision="float32")
        run_step(_TRIAL, "best", folder, n_queries=n_queries)
        for name in here:
            written = run_step(_TRIAL, "write", folder, engine=name)
            figures[name] = {"written": written, "searched": run_step(_TRIAL, "search", folder, engine=name, **counts)}
        compared = run_step(_TRIAL, "compare", folder, engines=here, **counts)
    rows = []
    for name, package in engines.items():
        what = f"engine {name}, {n_articles:,} articles"
        if name in here:
            rows += _rows(what, figures[name], compared["seconds"][name], compared["load"])
        else:
            rows.append(not_measured(what, against="", asked=ASKED, why=f"{package} was not installed."))
    return rows


def _rows(what: str, figures: dict, seconds: Mapping[str, list[float]], load: float) -> list[Row]:
    note = f"The engines took turns, question by question, while the machine had a load of {load:.1f}."
    rows = []
    for condition in conditions():
        recall, p50_ms = figures["searched"]["recall"][condition], 1000 * float(np.median(seconds[condition]))
        reached = f"recall {recall:.3f}; p50 {p50_ms:.2f} ms"
        rows.append(
            Row(
                f"{what}, {condition}",
                "",
                ASKED,
                reached,
                recall >= LEAST_RECALL,
                {"seconds": seconds[condition]},
                note,
            )
        )
    written, searched = figures["written"], figures["searched"]
    reached = (
        f"written in {written['write_s']:,.1f} s, {written['disk_mib']:,.0f} MiB on disk; peak of the writing process "
        f"{written['peak_mib']:,} MiB, of a searching one {searched['peak_mib']:,} MiB; opened in "
        f"{searched['open_s']:.2f} s"
    )
    return [*rows, Row(f"{what}, memory and writing", "", "", reached, None, figures)]
