"""Results on disk, a JSON file a measure with the machine, the versions and the commit, and their table on a page."""

from __future__ import annotations

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
    "torch", "dgl", "faiss-cpu", "sentence-transformers", "torch-geometric", "onnxruntime"
)  # fmt: skip
PAGE = DOCS / "performance.md"


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


def write_page(names: Iterable[str]) -> None:
    """Put the table of the results on disk, in the order of these measures, into the page; what people wrote around it
    stays."""
    results = {name: read_json(path) for name in names if (path := FOLDER / f"{name}.json").is_file()}
    write_text(PAGE, with_tables(PAGE, performance(results.values())))


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
