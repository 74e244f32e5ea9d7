"""Whether a published table says what its JSON holds: every printed row, computed again from the runs' measures."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError, UsageError
from statgraph.search.evaluating import SplitMetrics
from statgraph.studies.by_set import by_set_text
from statgraph.studies.rendering import About, table_text
from statgraph.studies.spec import RowSpec, TableSpec, table_of
from statgraph.studies.store import RunResult
from statgraph.studies.summary import summaries

_FIGURE = re.compile(r"\d+\.\d+")
_RUN = re.compile(r"(.+), seed (\d+)")


@dataclass(frozen=True)
class Checked:
    """How many figures a table prints, and a line for each of its rows that does not follow from the JSON."""

    n_figures: int
    problems: tuple[str, ...]


def check_table(name: str, path: Path) -> Checked:
    """Compare the tables in the Markdown file beside a `table.json` with what its runs come to.

    Args:
        name: the table that it is of.
        path: the JSON; the Markdown has the same name but for the suffix.

    Raises:
        UsageError: if the JSON is of another table.
        RunError: if a file is missing or damaged, or the JSON does not hold what the figures come from.
    """
    remedy = "publish table.json and table.md as 'statgraph reproduce' wrote them"
    values = artifacts.read_object(path, remedy=remedy)
    if values.get("table") != name:
        raise UsageError(f"--check {path}: is of the table '{values.get('table')}' (got '{name}')")
    missing = _missing(values)
    if missing:
        raise RunError(f"{path}: cannot be checked without {missing}; {remedy}")
    markdown = path.with_suffix(".md")
    try:
        printed = _rows(markdown.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RunError(f"{markdown}: not found; {remedy}") from None
    computed = _rows(_text(values))
    problems = [
        f"{markdown}:{number}: '{row}' does not follow from {path.name}, which gives '{other}'"
        for (number, row), (_, other) in zip(printed, computed, strict=False)
        if row != other
    ]
    if len(printed) != len(computed):
        problems.append(f"{markdown}: has {len(printed)} rows in its tables; {path.name} gives {len(computed)}")
    return Checked(sum(len(_FIGURE.findall(row)) for _, row in printed), tuple(problems))


def _missing(values: Mapping) -> str:
    """Return what a JSON lacks that the figures come from; blank for nothing."""
    absent = [f"`{key}`" for key in ("metrics", "rows") if not values.get(key)]
    runs = values.get("runs")
    if not runs or not isinstance(runs, Mapping) or any("questions" not in run for run in runs.values()):
        absent.append("the measures of each run by question")
    return ", ".join(absent)


def _text(values: Mapping) -> str:
    """Return the Markdown of a table's JSON."""
    spec = _spec(values)
    results: dict[str, dict[int, RunResult]] = {}
    for name, run in values["runs"].items():
        row, seed = _RUN.fullmatch(name).groups()
        results.setdefault(row, {})[int(seed)] = _result(run, values.get("questions", {}))
    rows = summaries(spec, results)
    about = About(**{key: tuple(part) if isinstance(part, list) else part for key, part in values["about"].items()})
    return by_set_text(spec, rows, about) if spec.by_set else table_text(spec, rows, about)


def _spec(values: Mapping) -> TableSpec:
    known = {item.name for item in fields(TableSpec)} - {"name", "rows"}
    of_row = {item.name for item in fields(RowSpec)}
    rows = [{key: part for key, part in row.items() if key in of_row} for row in values["rows"]]
    return table_of(values["table"], {key: part for key, part in values.items() if key in known} | {"rows": rows})


def _result(run: Mapping, asked: Mapping) -> RunResult:
    """Return a run's result; `asked` are the question ids and strata that the runs share."""
    about = {key: part for key, part in run.items() if key not in ("questions", "signals")}
    signals = {name: SplitMetrics.from_dict({**asked, **alone}) for name, alone in run.get("signals", {}).items()}
    return RunResult(SplitMetrics.from_dict({**asked, **run["questions"]}), about, signals)


def _rows(markdown: str) -> list[tuple[int, str]]:
    """Return the rows of all tables with their line numbers."""
    lines = enumerate(markdown.splitlines(), start=1)
    return [(number, line) for number, line in lines if line.startswith("|")]
