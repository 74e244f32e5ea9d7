"""Results on disk, a JSON file a measure with the machine, the versions and the commit, and their tables on pages."""

from __future__ import annotations

import platform
import time
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from benchmarks.registry import MEASURES
from benchmarks.rows import Row
from statgraph.artifacts import read_json, write_json
from statgraph.memory import peak_memory_mib
from statgraph.runs.provenance import commit

FOLDER = Path(__file__).parent / "results"
_PACKAGES = (
    "torch", "dgl", "faiss-cpu", "sentence-transformers", "torch-geometric", "onnxruntime", "networkx", "pandas",
    "lancedb", "pymilvus", "milvus-lite"
)  # fmt: skip
DOCS = Path(__file__).parent.parent / "docs"
PAGE, TOOLS_PAGE, TOOLS = DOCS / "performance.md", DOCS / "other-tools.md", "known_tools"
BEGIN, END = "<!-- table: python -m benchmarks -->", "<!-- end of table -->"
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
    about = {
        "command": command,
        "commit": commit(),
        "date": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.machine()}, {torch.get_num_threads()} threads, {_gpu()}, Python "
        f"{platform.python_version()}",
        "versions": {package: found for package in _PACKAGES if (found := _version(package))},
        "peak_mib": peak_memory_mib(),
    }
    write_json(FOLDER / f"{name}.json", {"about": about, "rows": [asdict(row) for row in rows]})


def read_results() -> dict[str, dict]:
    """Return what is on disk by measure, in the order of the table."""
    paths = {name: FOLDER / f"{name}.json" for name in MEASURES}
    return {name: read_json(path) for name, path in paths.items() if path.is_file()}


def write_pages() -> None:
    """Put the tables of the results on disk into the pages; what people wrote around them stays."""
    results = read_results()
    tools = results.pop(TOOLS, None)
    _put(PAGE, table(results))
    if tools is not None:
        _put(TOOLS_PAGE, tools_table(tools))


def _put(page: Path, written: str) -> None:
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN, 1)
    _, after = rest.split(END, 1)
    page.write_text(f"{before}{BEGIN}\n\n{written}\n{END}{after}", encoding="utf-8")


def tools_table(result: dict) -> str:
    """Return a Markdown table for each law of `known_tools`, a line a tool, and where they come from."""
    lines: list[str] = []
    law = None
    for row in result["rows"]:
        if row["what"] != law:
            law = row["what"]
            lines += [*[""] * bool(lines), f"**{law}**", ""]
            lines += ["| | " + " | ".join(column for column, _ in _COLUMNS.values()) + " |"]
            lines += ["| --- " + "| ---: " * len(_COLUMNS) + "|"]
        figures = [written.format(row["figures"][name]) for name, (_, written) in _COLUMNS.items() if row["figures"]]
        lines.append(
            f"| {row['against']} | " + " | ".join(figures or [row["note"], *[""] * (len(_COLUMNS) - 1)]) + " |"
        )
    about = result["about"]
    return "\n".join(
        [*lines, "", f"`{about['command']}`: commit {about['commit']}, {about['date']}, {about['machine']}.", ""]
    )


def table(results: dict[str, dict]) -> str:
    """Return the Markdown table of results by measure, and under it the notes of the rows that fall short or were not
    measured, and where each comes from; `benchmarks/results/` has the notes of all rows."""
    lines = ["| what | against | asked | reached | |", "| --- | --- | --- | --- | --- |"]
    notes, sources = [], []
    for result in results.values():
        for row in result["rows"]:
            mark = {True: "holds", False: "**falls short**", None: ""}[row["holds"]]
            if row["note"] and row["holds"] is not True and (row["asked"] or row["holds"] is False):
                if row["note"] not in notes:
                    notes.append(row["note"])
                mark = f"{mark} ({notes.index(row['note']) + 1})".strip()
            cells = (row["what"], row["against"], row["asked"], row["reached"], mark)
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        about = result["about"]
        sources.append(f"- `{about['command']}`: commit {about['commit']}, {about['date']}, {about['machine']}")
    numbered = [f"{number}. {note}" for number, note in enumerate(notes, start=1)]
    return "\n".join([*lines, "", *numbered, *([""] if numbered else []), *sources, ""])


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _gpu() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else "no GPU"
