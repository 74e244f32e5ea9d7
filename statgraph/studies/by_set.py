"""A table told by question set: each set and its parts with intervals, and differences with adjusted p-values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, Comparison, adjusted_p_values
from statgraph.studies.rendering import TIME_NOTE, About, header, line, opening, time_table
from statgraph.studies.spec import TableSpec
from statgraph.studies.summary import RowSummary, strata_by_set

_FIGURES = (
    "In percent: mean ± standard deviation over seeds [95 % bootstrap interval over questions, each with its mean over "
    "seeds]. Seen: a training question has one of the question's articles."
)
_DIFFERENCES = (
    "In points, each question's value averaged over seeds: difference [95 % bootstrap interval], p of a paired "
    "permutation test, adjusted for the number of comparisons in its table (Benjamini and Hochberg); n.s.: the "
    "interval holds 0, or p is 0.05 or more."
)
_SIGNALS = (
    "Each ensemble beside the one of its signals that is best alone in that metric on these very questions, which "
    "favours the signal."
)


def by_set_text(spec: TableSpec, rows: Sequence[RowSummary], about: About) -> str:
    """Return the whole of table.md of a table by question set."""
    lines = [*opening(spec, about), _FIGURES, "", *set_tables(spec, rows), ""]
    parts = [
        (name, part, stratum)
        for name, of_set in strata_by_set(rows[0].strata).items()
        for part, stratum in of_set.items()
    ]
    for name, part, stratum in parts[1:]:
        if part != "all":
            lines += [f"## {name}: {part}", "", *_figures(spec, rows, stratum), ""]
    against = [row.against for row in rows if row.differences]
    if against:
        lines += [f"## Differences from {', '.join(dict.fromkeys(against))}", "", _DIFFERENCES, ""]
        for name, part, stratum in parts:
            lines += [f"### {name}: {part}", "", *_differences(rows, stratum), ""]
    if any(row.best_signals for row in rows):
        lines += ["## Beside the best signal alone", "", f"{_SIGNALS} {_DIFFERENCES}", ""]
        for name, part, stratum in parts:
            lines += [f"### {name}: {part}, best signal", "", *_beside_signals(rows, stratum), ""]
    return "\n".join([*lines, "## Time and memory", "", TIME_NOTE, "", *time_table(rows)]) + "\n"


def set_tables(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    """Return a table over all questions of each set."""
    lines: list[str] = []
    for name, of_set in strata_by_set(rows[0].strata).items():
        lines += [*([""] if lines else []), f"## {name}", "", *_figures(spec, rows, of_set["all"])]
    return lines


def _figures(spec: TableSpec, rows: Sequence[RowSummary], stratum: str) -> list[str]:
    held = [row for row in rows if stratum in row.intervals]
    lines = [f"{held[0].n_questions[stratum]} questions.", "", *header(["row", "seeds", *spec.metrics])]
    for row in held:
        cells = [_figure(row, metric, stratum) for metric in spec.metrics]
        lines.append(line([row.spec.name, str(len(row.results)), *cells]))
    return lines


def _figure(row: RowSummary, metric: str, stratum: str) -> str:
    over_seeds, interval = row.strata[stratum][metric], row.intervals[stratum][metric]
    spread = "" if over_seeds.sd is None else f" ± {100 * over_seeds.sd:.1f}"
    return f"{100 * over_seeds.mean:.1f}{spread} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _differences(rows: Sequence[RowSummary], stratum: str) -> list[str]:
    compared = {row.spec.name: row.differences[stratum] for row in rows if stratum in row.differences}
    lines = header(["row", *next(iter(compared.values()), {})])
    cells = _adjusted(compared)
    return lines + [line([name, *(next(cells) for _ in of_row)]) for name, of_row in compared.items()]


def _beside_signals(rows: Sequence[RowSummary], stratum: str) -> list[str]:
    compared = {row.spec.name: row.best_signals[stratum] for row in rows if stratum in row.best_signals}
    lines = header(["row", *next(iter(compared.values()), {})])
    cells = _adjusted({name: {m: found for m, (_, found) in of_row.items()} for name, of_row in compared.items()})
    for name, of_row in compared.items():
        lines.append(line([name, *(f"{signal}: {next(cells)}" for signal, _ in of_row.values())]))
    return lines


def _adjusted(compared: Mapping[str, Mapping[str, Comparison]]) -> Iterator[str]:
    """Yield each comparison of a table in words, row by row."""
    found = [comparison for of_row in compared.values() for comparison in of_row.values()]
    for comparison, p_value in zip(found, adjusted_p_values([each.p_value for each in found]), strict=True):
        low, high = 100 * comparison.low, 100 * comparison.high
        told = (low > 0 or high < 0) and p_value < SIGNIFICANCE_LEVEL
        p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
        yield f"{100 * comparison.difference:+.1f} [{low:+.1f}, {high:+.1f}], {p}{'' if told else ', n.s.'}"
