"""Results on disk, a JSON file a measure with the machine, the versions and the commit, and their tables on pages."""

from __future__ import annotations

import itertools
import platform
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.measuring import Row
from statgraph.artifacts import read_json, write_json, write_text
from statgraph.device import peak_memory_mib
from statgraph.runs.provenance import commit
from statgraph.studies.rendering import table
from tools.material import DOCS, with_tables

FOLDER = Path(__file__).parent / "results"
_PACKAGES = (
    "torch", "dgl", "faiss-cpu", "sentence-transformers", "torch-geometric", "onnxruntime", "lancedb", "haystack-ai"
)  # fmt: skip
PAGE, TOOLS_PAGE, TOOLS = DOCS / "performance.md", DOCS / "other-tools.md", "known_tools"
# Figure of a row -> its column and how it is written.
_COLUMNS = {
    "S@1": ("S@1", "{:.1f}"), "S@3": ("S@3", "{:.1f}"), "R@100": ("R@100", "{:.1f}"),
    "first_s": ("first answer, s", "{:,.0f}"), "again_s": ("after a restart, s", "{:.1f}"),
    "question_ms": ("a question, ms", "{:,.1f}"), "memory_mb": ("memory, MB", "{:,.0f}"),
    "disk_mb": ("disk, MB", "{:,.1f}"), "lines": ("lines of code", "{:.0f}"),
}  # fmt: skip


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
        "peak_mib": peak_memory_mib(),
    }
    write_json(FOLDER / f"{name}.json", {"about": about, "rows": [asdict(row) for row in rows]})


def write_pages(names: Iterable[str]) -> None:
    """Put the tables of the results on disk, in the order of these measures, into the pages; what people wrote around
    them stays."""
    results = {name: read_json(path) for name in names if (path := FOLDER / f"{name}.json").is_file()}
    tools = results.pop(TOOLS, None)
    write_text(PAGE, with_tables(PAGE, performance(results.values())))
    if tools:
        write_text(TOOLS_PAGE, with_tables(TOOLS_PAGE, tools_tables(tools)))


def tools_tables(result: Mapping) -> list[str]:
    """Return a table for each law of `known_tools`, a line a tool, and where they come from."""
    lines: list[str] = []
    columns = ["", *(column for column, _ in _COLUMNS.values())]
    for law, rows in itertools.groupby(result["rows"], key=lambda row: row["what"]):
        cells = [[row["against"], *_figures(row)] for row in rows]
        lines += [f"**{law}**", "", *table(columns, cells, numbers=range(1, len(columns))), ""]
    return [*lines, f"{_source(result['about'])}."]


def _figures(row: Mapping) -> list[str]:
    """Return the cells of a tool's figures, or why there are none."""
    if not row["figures"]:
        return [row["note"], *[""] * (len(_COLUMNS) - 1)]
    return [written.format(row["figures"][name]) for name, (_, written) in _COLUMNS.items()]


def performance(results: Iterable[Mapping]) -> list[str]:
    """Return the table of the results of some measures, and under it the notes of the rows that fall short or were not
    measured, and where each comes from; `benchmarks/results/` has the notes of all rows."""
    rows: list[tuple[str, ...]] = []
    notes, sources = [], []
    for result in results:
        for row in result["rows"]:
            mark = {True: "holds", False: "**falls short**", None: ""}[row["holds"]]
            if row["note"] and row["holds"] is not True and (row["asked"] or row["holds"] is False):
                if row["note"] not in notes:
                    notes.append(row["note"])
                mark = f"{mark} ({notes.index(row['note']) + 1})".strip()
            rows.append((row["what"], row["against"], row["asked"], row["reached"], mark))
        sources.append(f"- {_source(result['about'])}")
    numbered = [f"{number}. {note}" for number, note in enumerate(notes, start=1)]
    return [*table(["what", "against", "asked", "reached", ""], rows), "", *numbered, *[""] * bool(notes), *sources]


def _source(about: Mapping) -> str:
    return f"`{about['command']}`: commit {about['commit']}, {about['date']}, {about['machine']}"
