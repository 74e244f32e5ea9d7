"""Results on disk, a JSON file a measure with the machine, the versions and the commit, and their tables on pages."""

from __future__ import annotations

import itertools
import platform
import re
import statistics
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks import plots
from benchmarks.measuring import Row
from statgraph.artifacts import read_json, write_json
from statgraph.runs.provenance import commit
from statgraph.studies.rendering import table
from tools.material import DOCS, with_tables

FOLDER = Path(__file__).parent / "results"
_PACKAGES = (
    "torch", "dgl", "faiss-cpu", "sentence-transformers", "torch-geometric", "onnxruntime", "lancedb", "haystack-ai"
)  # fmt: skip
# Name -> module of `benchmarks.measures`, and its function of `Settings` that returns rows; in the order of the pages.
MEASURES = {
    "ensemble_training": "ensemble_training:measure",
    "ensemble_training_long": "ensemble_training:measure",
    "embedding": "embedding:measure",
    "attention": "attention:measure",
    "query_static": "query:measure",
    "ensemble_query": "query:measure",
    "ensemble_query_fast": "query:measure",
    "query": "query:measure",
    "serving": "serving:measure",
    "importing": "importing:measure",
    "index_kinds": "indexes:measure_kinds",
    "index_largest": "indexes:measure_largest",
    "updating": "updating:measure",
    "updating_static": "updating:measure",
    "on_gpu": "embedding:measure_on_gpu",
    "known_tools": "known_tools:measure",
    "known_tools_law": "known_tools:measure",
}
TOOLS = ("known_tools", "known_tools_law")
# Rows that are in a plot, or that nobody asks for.
_NOT_IN_TABLES = re.compile(r"^`train`|one question|at once|GATv2's layer|articles, ivf-pq, memory")
_TRAINED, _ASKED = "`train`, embedding included: ", re.compile(r"one question(?:, run loaded:| to an)? (?!at a time)")
PAGE, TOOLS_PAGE, IMAGES = DOCS / "performance.md", DOCS / "other-tools.md", DOCS / "images"
# Figure of a tool -> its column and how it is written: in the plot, and in the tables.
_PLOTTED = {
    "S@1": ("S@1, %", "{:.1f}"), "S@3": ("S@3, %", "{:.1f}"), "R@100": ("R@100, %", "{:.1f}"),
    "question_ms": ("a question, ms", "{:,.1f}"),
}  # fmt: skip
_COLUMNS = {
    "first_s": ("first answer, s", "{:,.0f}"), "again_s": ("after a restart, s", "{:.1f}"),
    "memory_mb": ("memory, MB", "{:,.0f}"), "disk_mb": ("disk, MB", "{:,.1f}"), "lines": ("lines of code", "{:.0f}"),
}  # fmt: skip
_LEAST_SHARE = 0.01  # of a step of training in its plot
_LEAST_QUESTIONS = 50  # of a law in the plot and the tables of tools: fewer say too little


def save_results(name: str, rows: list[Row], *, command: str) -> None:
    """Write the rows of a measure, the command that made them and what they were measured on."""
    FOLDER.mkdir(exist_ok=True)
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
    versions = {}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    about = {
        "command": command,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {gpu}, "
        f"Python {platform.python_version()}",
        "versions": versions,
    }
    write_json(FOLDER / f"{name}.json", {"about": about, "rows": [asdict(row) for row in rows]})


def pages() -> dict[Path, str]:
    """Return the pages that hold results, with the tables of those on disk between their marks, and their plots, by
    path. What people wrote around the tables stays."""
    results = {name: read_json(path) for name in MEASURES if (path := FOLDER / f"{name}.json").is_file()}
    tools = [results.pop(name) for name in TOOLS if name in results]
    rows = [row for result in results.values() for row in result["rows"]]
    return {
        PAGE: with_tables(PAGE, performance(results)),
        IMAGES / "training-time.svg": training_plot(rows),
        IMAGES / "answer-time.svg": answers_plot(rows),
        IMAGES / "index-size.svg": plots.index_plot(rows),
        TOOLS_PAGE: with_tables(TOOLS_PAGE, tools_tables(tools)),
        IMAGES / "other-tools.svg": tools_plot(tools),
    }


def tools_tables(results: Sequence[Mapping]) -> list[str]:
    """Return a table for each law that tools were measured on, a line for each tool that was there, and where they come
    from."""
    lines: list[str] = []
    for result in results:
        for law, rows in _by_law(result):
            there = {name: column for name, column in _COLUMNS.items() if name in rows[0]["figures"]}
            cells = [
                [row["against"], *(written.format(row["figures"][name]) for name, (_, written) in there.items())]
                for row in rows
            ]
            columns = ["", *(column for column, _ in there.values())]
            lines += [f"**{law}**", "", *table(columns, cells, numbers=range(1, len(columns))), ""]
        lines += [f"{_source(result['about'])}.", ""]
    return lines[:-1]


def tools_plot(results: Sequence[Mapping]) -> str:
    """Return what each tool finds, and the time of a question, as bars for each law."""
    groups: dict[str, list[plots.Bar]] = {}
    for law, rows in itertools.chain(*map(_by_law, results)):
        for tool, figures in ((row["against"], row["figures"]) for row in rows):
            values = [figures[name] for name in _PLOTTED]
            groups.setdefault(law, []).append(plots.Bar(tool, values, tool.startswith("statgraph")))
    return plots.bars(dict(_PLOTTED.values()), groups)


def _by_law(result: Mapping) -> Iterator[tuple[str, list[Mapping]]]:
    """Yield the laws of enough questions, with the rows of the tools that were there."""
    for law, rows in itertools.groupby(result["rows"], key=lambda row: row["what"]):
        if int(law.split()[-2]) >= _LEAST_QUESTIONS:
            yield law, [row for row in rows if row["figures"]]


def performance(results: Mapping[str, Mapping]) -> list[str]:
    """Return a table with a line for all that was measured of one thing, and the measure. `benchmarks/results/` has the
    other rows, what was asked for, the notes, commits, dates and machines."""
    measured: dict[tuple[str, str], list[str]] = {}
    for name, result in results.items():
        for row in result["rows"]:
            if _NOT_IN_TABLES.search(row["what"]):
                continue
            thing = next((what for what, _ in measured if row["what"].startswith(f"{what}: ")), row["what"])
            aspect = row["what"].removeprefix(thing).removeprefix(": ") or (
                row["against"] and f"beside {row['against']}"
            )
            measured.setdefault((thing, name), []).append(f"{aspect}: {row['reached']}" if aspect else row["reached"])
    rows = [(thing, "<br>".join(cells), f"`{name}`") for (thing, name), cells in measured.items()]
    return table(["what", "measured", "measure"], rows)


def training_plot(rows: Iterable[Mapping]) -> str:
    """Return the minutes of each step of training, as bars for each law."""
    groups = {}
    for row in (row for row in rows if row["what"].startswith(_TRAINED)):
        total = row["figures"]["s"]
        steps = {_short(name): s for name, s in row["figures"]["steps"].items() if s >= _LEAST_SHARE * total}
        heading = f"{row['what'].removeprefix(_TRAINED)}: {row['reached']}"
        groups[heading] = [plots.Bar(name, [seconds / 60]) for name, seconds in steps.items()]
    return plots.bars({"minutes": "{:.1f}"}, groups)


def _short(step: str) -> str:
    return step.removeprefix("member ").replace("embedded:", "").replace("multilingual-", "")


def answers_plot(rows: Iterable[Mapping]) -> str:
    """Return the milliseconds of a question, by statgraph and by what a user would put together, as bars."""
    groups = {}
    for row in rows:
        figures = row["figures"]
        if not (_ASKED.match(row["what"]) and figures):
            continue
        ours, plain = (1000 * statistics.median(figures[name]) for name in ("seconds", "plain_seconds"))
        groups[_ASKED.sub("", row["what"], count=1).strip()] = [
            plots.Bar("statgraph", [ours]),
            plots.Bar("put together by hand", [plain], is_ours=False),
        ]
    return plots.bars({"median of a question, ms": "{:.3g}"}, groups)


def _source(about: Mapping) -> str:
    return f"`{about['command']}`, {about['date']}, {about['machine']}"
