"""Results on disk, a JSON file a measure with the machine, the versions and the commit, and their tables on pages."""

from __future__ import annotations

import itertools
import math
import platform
import re
import statistics
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
NOT_MEASURED = "not measured"
# What a user asks -> the measures that answer it.
QUESTIONS = {
    "How long does training take?": ("ensemble_training", "ensemble_training_long", "embedding", "attention"),
    "How fast is an answer?": ("query_static", "ensemble_query", "query", "serving"),
    "How large may the law be?": ("importing", "index_kinds", "index_largest"),
    "How long does an amendment take?": ("updating", "updating_static"),
    "On a GPU": ("on_gpu",),
}
_DETAIL = re.compile(r"64 questions at once|GATv2's layer|`precision=")
PAGE, TOOLS_PAGE, TOOLS = DOCS / "performance.md", DOCS / "other-tools.md", "known_tools"
PLOT = DOCS / "images" / "index-size.svg"
_ALONE = re.compile(r"index of ([\d,]+) articles, .*ivf-pq.*, one question at a time")
_STYLE = "text{font:12px sans-serif;fill:#7a7a7a}.grid{stroke:#7a7a7a;opacity:.25}.ours{stroke:#4f6bd8;fill:#4f6bd8}"
_STYLE += ".exact{stroke:#9a9a9a;fill:#9a9a9a}path{stroke-width:2}path.ours,path.exact{fill:none}"
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
    write_text(PAGE, with_tables(PAGE, performance(results)))
    write_text(PLOT, index_plot(results))
    if tools:
        write_text(TOOLS_PAGE, with_tables(TOOLS_PAGE, tools_tables(tools)))


def tools_tables(result: Mapping) -> list[str]:
    """Return a table for each law of `known_tools`, a line for each tool that was there, and where they come from."""
    lines: list[str] = []
    columns = ["", *(column for column, _ in _COLUMNS.values())]
    for law, rows in itertools.groupby(result["rows"], key=lambda row: row["what"]):
        cells = [[row["against"], *_figures(row)] for row in rows if row["figures"]]
        lines += [f"**{law}**", "", *table(columns, cells, numbers=range(1, len(columns))), ""]
    return [*lines, f"{_source(result['about'])}."]


def _figures(row: Mapping) -> list[str]:
    """Return the cells of a tool's figures."""
    return [written.format(row["figures"][name]) for name, (_, written) in _COLUMNS.items()]


def performance(results: Mapping[str, Mapping]) -> list[str]:
    """Return a table for each question of a user, a line for all that was measured of one thing. `benchmarks/results/`
    has the other rows, what was asked for, the notes, commits and machines."""
    lines: list[str] = []
    for question, names in QUESTIONS.items():
        there = {name: results[name] for name in names if name in results}
        measured: dict[str, list[str]] = {}
        for row in (row for result in there.values() for row in result["rows"]):
            if row["reached"] != NOT_MEASURED and not _DETAIL.search(row["what"]):
                beside = f"beside {row['against']}: " if row["against"] else ""
                measured.setdefault(row["what"], []).append(f"{beside}{row['reached']}")
        if measured:
            rows = [(what, "<br>".join(cells)) for what, cells in measured.items()]
            dates = ", ".join(f"`{name}` ({result['about']['date']})" for name, result in there.items())
            lines += [f"**{question}**", "", *table(["what", "measured"], rows), "", f"Measures: {dates}.", ""]
    return lines[:-1]


def index_plot(results: Mapping[str, Mapping]) -> str:
    """Return an SVG of the time of a question over the number of articles, by `ivf-pq` and by exact search."""
    rows = [row for result in results.values() for row in result["rows"]]
    points: dict[str, list[tuple[float, float]]] = {"ours": [], "exact": []}
    for row, match in ((row, _ALONE.fullmatch(row["what"])) for row in rows):
        if match:
            n_articles = int(match[1].replace(",", ""))
            for line, name in (("ours", "ours"), ("exact", "faiss")):
                points[line].append((n_articles, 1000 * statistics.median(row["figures"][name])))

    def place(n_articles: float, milliseconds: float) -> tuple[float, float]:
        return round(80 + 160 * (math.log10(n_articles) - 4), 1), round(240 - 50 * math.log10(milliseconds), 1)

    parts = []
    for exponent in range(-1, 5):
        _, y = place(1e4, 10**exponent)
        label = f'<text x="72" y="{y + 4}" text-anchor="end">{10**exponent:g} ms</text>'
        parts.append(f'<path class="grid" d="M80 {y}H560"/>{label}')
    for exponent in range(4, 8):
        x, _ = place(10**exponent, 1)
        parts.append(f'<text x="{x}" y="310" text-anchor="middle">{10**exponent:,}</text>')
    for line, label in (("ours", "ivf-pq"), ("exact", "exact search")):
        places = [place(*point) for point in sorted(points[line])]
        parts.append(f'<path class="{line}" d="M{" L".join(f"{x} {y}" for x, y in places)}"/>')
        parts += [f'<circle class="{line}" cx="{x}" cy="{y}" r="4"/>' for x, y in places]
        parts += [f'<text x="{x + 8}" y="{y + 4}">{label}</text>' for x, y in places[-1:]]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 330">\n<style>{_STYLE}</style>'
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def _source(about: Mapping) -> str:
    return f"`{about['command']}`, {about['date']}, {about['machine']}"
