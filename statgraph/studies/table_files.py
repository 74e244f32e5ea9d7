"""The files of a table: table.md, beside it table.json.gz with all that its figures follow from, and their check."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.errors import RunError, UsageError, on_command_line, option
from statgraph.runs.provenance import published
from statgraph.studies.analyses import LINES
from statgraph.studies.rendering import About, opening, table_text
from statgraph.studies.spec import RowSpec, TableSpec, row_of, table_of
from statgraph.studies.store import RunResult
from statgraph.studies.summary import RowSummary, summaries

MARKDOWN, VALUES = "table.md", "table.json.gz"
README = "README.md"
SAVED_DECIMALS = 7  # enough for every printed figure
_TOLERANCE = 2e-6  # of a summary: the values by question are rounded
_SUMMARY = ("seeds", "against", "differences", "intervals", "best_signals", "strata")
_TABLE_KEYS = tuple(item.name for item in fields(TableSpec) if item.name not in ("name", "rows"))
_REMEDY = f"publish {VALUES} and {MARKDOWN} as 'statgraph reproduce' wrote them"
_FIGURE = re.compile(r"\d+\.\d+")


def write_values(path: Path, values: Mapping[str, object]) -> None:
    """Write JSON values, compressed, with digests of their records: equal values make equal files. Floats are rounded
    to `SAVED_DECIMALS`, except in the summary of the rows, from which a table is printed again to the last digit."""
    summary = {key: values[key] for key in ("rows",) if key in values}
    written = {**_rounded(values), **summary}
    text = json.dumps(written | {"records": _records(written)}, ensure_ascii=False, separators=(",", ":"))
    with artifacts.replaced_file(path) as staging:
        staging.write_bytes(gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0))


def read_values(path: Path) -> dict[str, Any]:
    """Return the JSON object in a compressed file.

    Raises:
        RunError: if the file is missing or damaged, or holds something else.
    """
    with artifacts.reading(path, _REMEDY):
        values = json.loads(gzip.decompress(path.read_bytes()))
        if not isinstance(values, dict):
            raise ValueError("not a JSON object")
    return values


def markdown_beside(path: Path) -> Path:
    """Return the Markdown file of the same table as a .json.gz."""
    return path.with_name(path.name.removesuffix(".json.gz") + ".md")


def table_values(spec: TableSpec, rows: Sequence[RowSummary], about: About) -> dict[str, object]:
    """Return the JSON values of a table. `questions` are the question ids, their clusters and strata that the runs
    share; each run holds only what differs from them."""
    runs = runs_of(rows)
    first = next(iter(runs.values())).metrics.to_dict()
    shared = {key: value for key, value in first.items() if key != "metrics"}
    settings = {key: value for key, value in asdict(spec).items() if key not in ("name", "rows")}
    return {
        "table": spec.name,
        **published(settings),
        "about": asdict(about),
        "rows": published([row.to_dict() for row in rows]),
        "questions": shared,
        "runs": {name: replace(run, about=published(run.about)).to_dict(shared) for name, run in runs.items()},
    }


def runs_of(rows: Sequence[RowSummary]) -> dict[str, RunResult]:
    """Return the runs of a table by row and seed, as in "BM25, seed 0"."""
    return {f"{row.spec.name}, seed {result.about['seed']}": result for row in rows for result in row.results.values()}


@dataclass(frozen=True)
class Checked:
    """How many figures a table prints, and a line for each run of the JSON whose record was changed since it was
    written, each value of its own summary, and each row of the Markdown beside it, that does not follow from its values
    by question."""

    n_figures: int
    problems: tuple[str, ...]


def check_folder(folder: Path) -> dict[Path, Checked]:
    """Check every table of a folder, by its JSON's path; one that cannot be checked has that as its problem.

    Raises:
        UsageError: if the folder has no table.
    """
    markdown = {path for path in folder.glob("*.md") if path.name != README}
    paths = sorted({path.with_suffix(".json.gz") for path in markdown} | {*folder.glob("*.json.gz")})
    if not paths:
        raise UsageError(f"{option('check')} {folder}: has no table; name the folder or the .json.gz of one")
    checked = {}
    for path in paths:
        try:
            checked[path] = check_table("", path)
        except RunError as error:
            checked[path] = Checked(0, (on_command_line(error),))
    return checked


def check_table(name: str, path: Path) -> Checked:
    """Compute the rows of a published table, and the summary in its JSON, again from the values by question of its
    runs, and compare them.

    Args:
        name: the name of the table; "" for what the JSON says.
        path: the compressed JSON; its Markdown, if there is one, has the same name but for the suffix.

    Raises:
        UsageError: if the JSON is of another table.
        RunError: if a file is missing or damaged, or the JSON does not hold what the figures come from.
    """
    values = read_values(path)
    if name and values.get("table") != name:
        raise UsageError(f"{option('check')} {path}: is of the table '{values.get('table')}' (got '{name}')")
    markdown = markdown_beside(path)
    with artifacts.reading(path, _REMEDY):
        changed = [
            f"{path}: the record of {place} (settings, commit, machine, times) is not the one written; {_REMEDY}"
            for place, _, _ in _differing(values.get("records", {}), _records(values))
        ]
    if values.get("analysis") in LINES:
        checked = _checked_analysis(values, path, markdown)
        return replace(checked, problems=(*changed, *checked.problems))
    if values.get("table") and not isinstance(values.get("runs") or [], Mapping):
        raise RunError(
            f"{path}: holds no values by question, from which its figures would follow; make the table again with "
            f"'statgraph reproduce {values['table']}'"
        )
    with artifacts.reading(path, _REMEDY):
        spec, rows, about = read_table_values(values)
        computed = _table_rows(table_text(spec, rows, about))
        summary = [*_differing(_summaries(values["rows"]), _rounded(_summaries(row.to_dict() for row in rows)))]
    problems = changed + [
        f"{path}: {place} is {saved}, and {other} by its own values by question" for place, saved, other in summary
    ]
    printed = _table_rows(markdown.read_text(encoding="utf-8")) if markdown.is_file() else computed
    problems += [
        f"{markdown}:{number}: '{row}' does not follow from {path.name}, which gives '{other}'"
        for (number, row), (_, other) in zip(printed, computed, strict=False)
        if row != other
    ]
    if len(printed) != len(computed):
        problems.append(f"{markdown}: has {len(printed)} rows in its tables; {path.name} gives {len(computed)}")
    return Checked(sum(len(_FIGURE.findall(row)) for _, row in printed), tuple(problems))


def _checked_analysis(values: Mapping[str, Any], path: Path, markdown: Path) -> Checked:
    """Compute the lines of a published analysis again from the values of its questions or codes, and compare them."""
    with artifacts.reading(path, _REMEDY):
        lines = LINES[values["analysis"]](values)
    kept = markdown.read_text(encoding="utf-8").splitlines() if markdown.is_file() else lines
    problems = [f"{markdown}: lacks '{line}', which follows from {path.name}" for line in lines if line not in kept]
    problems += [
        f"{markdown}:{number}: '{row}' does not follow from {path.name}"
        for number, row in _table_rows("\n".join(kept))
        if row not in lines
    ]
    return Checked(sum(len(_FIGURE.findall(line)) for line in lines), tuple(problems))


def read_table_values(values: Mapping[str, Any]) -> tuple[TableSpec, list[RowSummary], About]:
    """Return the table that `table_values` saved, its rows computed from the measures of the runs."""
    spec = spec_of(values)
    results: dict[str, dict[int, RunResult]] = {}
    for name, run in values["runs"].items():
        row, _, seed = name.rpartition(", seed ")
        results.setdefault(row, {})[int(seed)] = RunResult.from_dict(run, values.get("questions", {}))
    return spec, summaries(spec, results), about_of(values)


def analysis_text(values: Mapping[str, Any], picture: str) -> str:
    """Return the Markdown of a saved analysis; `picture` is the file name of its figure."""
    spec = spec_of(values)
    lines = [*opening(spec, about_of(values)), *LINES[spec.analysis](values), "", f"![{spec.title}]({picture})"]
    return "\n".join(lines) + "\n"


def spec_of(values: Mapping[str, Any]) -> TableSpec:
    """Return the spec of a saved table."""
    spec = table_of(values["table"], {key: values[key] for key in values if key in _TABLE_KEYS})
    row_keys = {item.name for item in fields(RowSpec)}
    saved = ({key: row[key] for key in row_keys & row.keys()} for row in values.get("rows", ()))
    return replace(spec, rows=tuple(map(row_of, saved)))


def about_of(values: Mapping[str, Any]) -> About:
    """Return the facts above a saved table."""
    facts: dict[str, Any] = {
        key: tuple(part) if isinstance(part, list) else part for key, part in values["about"].items()
    }
    return About(**facts)


def _records(values: Mapping[str, Any]) -> dict[str, str]:
    """Return a digest of what no figure follows from: of the table's settings and facts, and of each run's."""
    table = {key: values[key] for key in sorted({"about", *_TABLE_KEYS} & values.keys())}
    rows = [{key: row[key] for key in row if key not in _SUMMARY} for row in values.get("rows", ())]
    runs = values["runs"].items() if isinstance(values.get("runs"), Mapping) else ()
    records = {name: {key: run[key] for key in run if key not in ("questions", "signals")} for name, run in runs}
    return {name: artifacts.key_of(record) for name, record in {"the table": [table, rows], **records}.items()}


def _summaries(rows: Iterable[Mapping[str, Any]]) -> dict[str, object]:
    """Return what the summary of each row says of its runs, by the row's name."""
    return {row["name"]: {key: row[key] for key in _SUMMARY if key in row} for row in rows}


def _differing(saved: object, computed: object, place: str = "") -> Iterator[tuple[str, object, object]]:
    """Yield (place, saved, computed) of each value of a nested JSON value that is not the computed one, or is missing
    on one side."""
    if isinstance(saved, Mapping) and isinstance(computed, Mapping):
        for key in dict.fromkeys((*saved, *computed)):
            yield from _differing(saved.get(key), computed.get(key), f"{place}, {key}" if place else str(key))
    elif isinstance(saved, list) and isinstance(computed, list) and len(saved) == len(computed):
        for one, other in zip(saved, computed, strict=True):
            yield from _differing(one, other, place)
    elif isinstance(saved, float) and isinstance(computed, float):
        if abs(saved - computed) > _TOLERANCE:
            yield place, saved, computed
    elif saved != computed:
        yield place, saved, computed


def _table_rows(markdown: str) -> list[tuple[int, str]]:
    """Return the rows of all tables with their line numbers."""
    return [(number, line) for number, line in enumerate(markdown.splitlines(), start=1) if line.startswith("|")]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, SAVED_DECIMALS)
    if isinstance(value, Mapping):
        return {key: _rounded(part) for key, part in value.items()}
    return [_rounded(part) for part in value] if isinstance(value, list | tuple) else value
