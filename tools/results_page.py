"""The tables of docs/results/, each on its page, and on docs/tables.md with p-values adjusted over the whole page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, Comparison, Estimate, adjusted_p_values
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.studies.rendering import PAPER, main_table, table, table_text
from statgraph.studies.spec import TableSpec
from statgraph.studies.store import RunResult
from statgraph.studies.summary import ALL, RowSummary, SeedSummary
from statgraph.studies.table_files import about_of, analysis_text, read_values, spec_of

_TABLE = re.compile(r"^\| row \| (seeds|against) \|.*(?:\n\|.*)*", re.MULTILINE)
_LINK = re.compile(r"\(results/([\w-]+)\.md\)")
_COUNT = re.compile(r"\d+ distinct comparisons")
_LEAST_P = 0.001  # as printed


def page(text: str, folder: Path) -> str:
    """Return the page with each table of figures and of differences as saved, p-values adjusted.

    A table is that of the first file of `folder` linked below it. All comparisons of these files are adjusted together
    (Benjamini and Hochberg), over all questions and in the strata, each once. † marks a difference where a row deviates
    more between seeds than half the interval's width.

    Raises:
        ValueError: if a table has no link below it.
        RunError: if a file cannot be read.
    """
    names = dict.fromkeys(map(_linked_below, _TABLE.finditer(text)))
    tables = {name: saved_table(read_values(folder / f"{name}.json.gz")) for name in names}
    p_values = {}
    for _, rows in tables.values():
        for stratum, metric, comparison in _comparisons(rows):
            p_values.setdefault(_test_of(stratum, metric, comparison), comparison.p_value)
    q_values = dict(zip(p_values, adjusted_p_values(list(p_values.values())), strict=True))

    def as_saved(old: re.Match[str]) -> str:
        spec, rows = tables[_linked_below(old)]
        return "\n".join(_differences(rows, q_values) if old[1] == "against" else _figures(spec, rows))

    return _COUNT.sub(f"{len(p_values)} distinct comparisons", _TABLE.sub(as_saved, text))


def _linked_below(old: re.Match[str]) -> str:
    link = _LINK.search(old.string, old.end())
    if link is None:
        raise ValueError(f"'{old[0].splitlines()[0]}': no link to a file of results/ below this table")
    return link[1]


def table_page(path: Path) -> str:
    """Return the Markdown of a saved table, as `statgraph reproduce` wrote it: its figures are those of the summary in
    the file, its picture is the PNG beside it.

    Raises:
        RunError: if the file cannot be read.
    """
    values = read_values(path)
    figure = path.with_name(path.name.replace(".json.gz", ".png"))
    picture = figure.name if figure.is_file() else ""
    if values.get("analysis"):
        return analysis_text(values, picture)
    spec, rows = saved_table(values)
    return table_text(spec, rows, about_of(values), picture=picture)


def saved_table(values: Mapping) -> tuple[TableSpec, list[RowSummary]]:
    """Return a table and its rows as they were summed up when it was made, without the metrics of each run."""
    spec, runs = spec_of(values), values.get("runs", {})
    no_metrics = SplitMetrics((), QuestionMetrics({}), {})
    rows = [
        RowSummary(
            row_spec,
            {seed: RunResult(no_metrics, runs.get(f"{row_spec.name}, seed {seed}", {})) for seed in row["seeds"]},
            {stratum: _each(saved["metrics"], SeedSummary) for stratum, saved in row["strata"].items()},
            {stratum: saved["n_questions"] for stratum, saved in row["strata"].items()},
            row["against"],
            {stratum: _each(saved, Comparison) for stratum, saved in row["differences"].items()},
            {stratum: _each(saved, Estimate) for stratum, saved in row.get("intervals", {}).items()},
            {
                stratum: {metric: (signal, Comparison(**value)) for metric, (signal, value) in saved.items()}
                for stratum, saved in row.get("best_signals", {}).items()
            },
        )
        for row_spec, row in zip(spec.rows, values.get("rows", ()), strict=True)
    ]
    return spec, rows


def _each(saved: Mapping[str, Mapping], kind: type) -> dict:
    return {metric: kind(**value) for metric, value in saved.items()}


def _comparisons(rows: Sequence[RowSummary]) -> Iterator[tuple[str, str, Comparison]]:
    for row in rows:
        for stratum, compared in row.differences.items():
            for metric, comparison in compared.items():
                yield stratum, metric, comparison


def _test_of(stratum: str, metric: str, comparison: Comparison) -> tuple:
    """Return a key of a comparison at the precision of print, the same for "A against B" and "B against A", and for a
    comparison that another table repeats."""
    ends = (comparison.difference, comparison.low, comparison.high)
    mirrored = (-comparison.difference, -comparison.high, -comparison.low)
    points = max(tuple(round(100 * value, 1) + 0.0 for value in values) for values in (ends, mirrored))
    return stratum, metric, points, max(_LEAST_P, round(comparison.p_value, 3))


def _figures(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    """Return the table over all questions, without the paper's column if none of its figures could be read."""
    lines = main_table(spec, rows)
    if lines[0].endswith(f"| {PAPER} |"):
        return [row[: row.rindex("|", 0, -1) + 1] for row in lines]
    return lines


def _differences(rows: Sequence[RowSummary], q_values: Mapping[tuple, float]) -> list[str]:
    compared = [row for row in rows if ALL in row.differences]
    deviations = {row.spec.name: row.strata[ALL] for row in rows}

    def cell(row: RowSummary, metric: str, comparison: Comparison) -> str:
        values = [deviations.get(name, {}).get(metric) for name in (row.spec.name, row.against)]
        seeds_sd = max((value.sd or 0.0 for value in values if value), default=0.0)
        return _difference(comparison, q_values[_test_of(ALL, metric, comparison)], seeds_sd)

    return table(
        ["row", "against", *compared[0].differences[ALL]],
        [
            [row.spec.name, row.against, *(cell(row, *each) for each in row.differences[ALL].items())]
            for row in compared
        ],
    )


def _difference(comparison: Comparison, q_value: float, seeds_sd: float) -> str:
    mark = "†" if seeds_sd > (comparison.high - comparison.low) / 2 else ""
    significant = comparison.significant and q_value < SIGNIFICANCE_LEVEL
    size = f"{100 * comparison.difference:+.1f} [{100 * comparison.low:+.1f}, {100 * comparison.high:+.1f}]{mark}"
    return f"{size}, q = {q_value:.3f}{'' if significant else ', n.s.'}"
