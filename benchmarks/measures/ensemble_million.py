"""What a question to an ensemble takes among a million synthetic articles, without a transformer; and building it.

The run and its figures stay in a folder of the system's temporary one until all is measured, so that a measure that was
cut off goes on where it was.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks.measures.ensemble_query import PLAIN
from benchmarks.measures.query import PAUSE_S
from benchmarks.rows import Row, ratio_text, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, times_faster
from benchmarks.trial_steps import run_step
from statgraph.artifacts import read_json, write_json

ASKED_S = 0.1
_ARTICLES, _FEW = 1_000_000, 1_000
_QUESTIONS = 100
_MIB = 2**20


def measure(settings: Settings) -> list[Row]:
    """Return the rows of an ensemble over synthetic articles: time of a question, the rival's, memory and building."""
    n_articles = _FEW if settings.quick else _ARTICLES
    n_asked = 3 if settings.quick else _QUESTIONS
    folder = Path(tempfile.gettempdir()) / f"statgraph-ensemble-{n_articles}"
    folder.mkdir(exist_ok=True)
    if not (folder / "built.json").is_file():
        write_json(folder / "built.json", run_step("ensemble_trial", "build", folder, n_articles=n_articles))
    searched = run_step("ensemble_trial", "search", folder, n_asked=n_asked)
    rows = rows_of(n_articles, read_json(folder / "built.json"), searched)
    shutil.rmtree(folder)
    return rows


def rows_of(n_articles: int, built: Mapping, searched: Mapping) -> list[Row]:
    """Return the rows of what the steps of `ensemble_trial` measured."""
    seconds = searched["seconds"]
    what = f"one question to an ensemble: synthetic law, {n_articles:,} articles, one static member ({built['index']})"
    note = (
        f"Of {len(seconds['ours'])} questions of nine words, each after {1000 * PAUSE_S:g} ms of rest; load of the "
        f"machine {searched['load']:.1f}. The rival's median is {seconds_text(Spread.of(seconds['plain']))}. The "
        f"articles' vectors are drawn. The first question after the start takes "
        f"{searched['first_s']:.2f} s, the first that names an article by number {searched['first_named_s']:.1f} s "
        f"(it reads all titles), later ones {seconds_text(Spread.of(searched['named_s']))}."
    )
    ratio = times_faster(seconds["ours"], seconds["plain"])
    return [
        _time(what, seconds["ours"], searched, note),
        _time(f"{what}, 200 trees", seconds["trees"], {}, ""),
        Row(what, PLAIN, "", ratio_text(ratio), None),
        Row(f"{what}: memory and building", "", "", _memory(built, searched), None, dict(built)),
    ]


def _time(what: str, seconds: list[float], figures: Mapping, note: str) -> Row:
    p50, p99 = np.percentile(seconds, [50, 99])
    asked = f"p50 under {1000 * ASKED_S:g} ms"
    reached = f"{1000 * p50:.3g} ms; p99 {1000 * p99:.3g} ms"
    return Row(what, "", asked, reached, bool(p50 < ASKED_S), dict(figures), note)


def _memory(built: Mapping, searched: Mapping) -> str:
    steps = ", ".join(f"{step['name']} {step['seconds']:,.0f} s" for step in built["steps"])
    return (
        f"peak of a searching process {searched['search_peak_mib']:,} MiB, of the building one "
        f"{built['peak_mib']:,} MiB; {built['bytes'] / _MIB:,.0f} MiB on disk; loaded in {searched['load_s']:.1f} s; "
        f"built in {built['build_s']:,.0f} s ({steps})"
    )
