"""A finished table as Markdown (about it, the figures beside the paper's, differences, strata, times) and a picture.

A table `by_set` has a part for each question set, intervals beside its figures, and adjusted p-values.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from statgraph.contrib.plots.figures import bar_chart
from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, Comparison, adjusted_p_values
from statgraph.law.records import MAIN_SET, SPLITS, Corpus
from statgraph.studies.spec import TableSpec
from statgraph.studies.store import RunResult
from statgraph.studies.summary import ALL, PARTS, RowSummary, strata_by_set

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ABSENT = "-"
PAPER = "paper (BSARD)"
_TIME_NOTE = (
    "Means over seeds; memory is the highest of the process during the run. A first stage that another row had trained "
    "with the same settings is taken from it, and then costs no time here. A member of an ensemble that another row "
    "had trained is taken from it too; the time and memory that it took then are counted."
)
_DIFFERENCES = (
    "In points, each question's value averaged over seeds: difference [95 % bootstrap interval], p of a paired "
    "permutation test{adjusted}; n.s.: the interval holds 0, or p is 0.05 or more."
)
_ADJUSTED = _DIFFERENCES.format(
    adjusted=", adjusted for the number of comparisons in its table (Benjamini and Hochberg)"
)
_FIGURES_BY_SET = (
    "In percent: mean ± standard deviation over seeds [95 % bootstrap interval over questions, each with its mean over "
    "seeds]. Seen: a training question has one of the question's articles. Not given away: the question names no "
    "article, and is not the words of a training text that cites one of its articles, with or without others before."
)
_SIGNALS = (
    "Each ensemble beside the one of its signals that is best alone in that metric on these very questions, which "
    "favours the signal."
)

_TEACHER = ("teacher cosine", "teacher KL")
_TEACHER_NOTE = (
    "In the batches of the last epoch, means over seeds: the cosine of a question's vectors, the query encoder's and "
    "the graph encoder's, and the KL divergence of their distributions over the batch's articles."
)


@dataclass(frozen=True)
class About:
    """The facts above a table: corpus, split, number of seeds, command, commits, machines, and what is missing."""

    corpus: str
    split: str
    seeds: int
    command: str
    commits: tuple[str, ...]
    machines: tuple[str, ...]
    missing: tuple[str, ...] = ()
    left_out: str = ""


def table_text(spec: TableSpec, rows: Sequence[RowSummary], about: About, *, picture: str = "") -> str:
    """Return the whole of table.md; `picture` is the file name of the figure, if there is one."""
    body = _body_by_set(spec, rows) if spec.by_set else _body(spec, rows, picture)
    lines = [*opening(spec, about), *body, *_teachers(rows)]
    lines += ["## Time and memory", "", _TIME_NOTE, "", *time_table(rows)]
    return "\n".join(lines) + "\n"


def corpus_line(corpus: Corpus) -> str:
    """Return a corpus's name and sizes."""
    sets = [
        f"{name}: {', '.join(f'{split} {len(corpus.split(split, name)):,}' for split in SPLITS)}"
        for name in corpus.question_sets or (MAIN_SET,)
    ]
    return f"{corpus.name} ({corpus.language}): {len(corpus.articles):,} articles; {'; '.join(sets)}"


def opening(spec: TableSpec, about: About) -> list[str]:
    """Return the lines above the figures: what they are of, and how to get them again."""
    lines = [f"# {spec.title}", "", f"After {spec.source}.", ""]
    lines += [f"- Corpus: {about.corpus}", f"- Split: {about.split}"]
    if about.left_out:
        lines.append(f"- Metrics {about.left_out}")
    if about.seeds:
        lines.append(f"- Seeds: {', '.join(map(str, range(about.seeds)))}; rows with nothing random: one run")
    lines += [f"- Command: `{about.command}`", f"- Commit: {', '.join(about.commits) or ABSENT}"]
    lines.append(f"- Machine: {'; '.join(about.machines) or ABSENT}")
    if len(about.commits) > 1:
        lines.append("- Rows were trained at different commits: see `commit` of each run in the JSON")
    return [*lines, *(f"- Missing: {line}" for line in about.missing), ""]


def main_tables(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    """Return the table over all questions, the paper's figures beside ours; `by_set` one for each question set."""
    if not spec.by_set:
        return main_table(spec, rows)
    lines: list[str] = []
    for name, strata in strata_by_set(rows[0].strata).items():
        lines += [*([""] if lines else []), f"## {name}", "", *stratum_table(spec, rows, strata[ALL])]
    return lines


def main_table(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    """Return the table over all questions, in percent: mean ± standard deviation over seeds, then the paper's."""
    in_paper = [metric for metric in spec.metrics if any(metric in row.paper for row in spec.rows)]
    columns = ["row", "seeds", *spec.metrics, *([f"{metric}, {PAPER}" for metric in in_paper] or [PAPER])]
    cells = []
    for row in rows:
        paper = [row.spec.paper.get(metric) for metric in in_paper] or [None]
        cells.append([*_figures(spec, row, ALL), *(ABSENT if value is None else f"{value:.1f}" for value in paper)])
    return table(columns, cells)


def stratum_table(spec: TableSpec, rows: Sequence[RowSummary], stratum: str) -> list[str]:
    """Return the table over the questions of one stratum."""
    held = [row for row in rows if stratum in row.strata]
    if not held:
        return ["No question is of this kind."]
    figures = table(["row", "seeds", *spec.metrics], (_figures(spec, row, stratum) for row in held))
    return [f"{held[0].n_questions[stratum]} questions.", "", *figures]


def differences_table(rows: Sequence[RowSummary], stratum: str = ALL) -> list[str]:
    """Return the difference of each row from the one that it is compared with, over the questions of a stratum."""
    if not any(stratum in row.differences for row in rows):
        return ["No two rows to compare yet."]
    return [_DIFFERENCES.format(adjusted=""), "", *_comparison_table(rows, stratum)]


def time_table(rows: Sequence[RowSummary]) -> list[str]:
    """Return what each row took: the mean over seeds of the seconds of each step, and the highest memory."""
    cells = []
    for row in rows:
        runs = list(row.results.values())
        taken = [member for run in runs for member in run.about.get("taken", ())]
        seconds = sum(run.about["seconds"] for run in runs) + sum(member["seconds"] for member in taken)
        wall = f"{seconds / len(runs):.0f} s"
        if any(run.about["resumed"] for run in runs):
            wall += " (resumed: its last part alone)"
        steps = [step for run in runs for step in run.about["steps"]]
        peak = max((step["peak_mib"] for step in (*steps, *taken)), default=0)
        cells.append([row.spec.name, _steps(runs), wall, f"{peak:,} MiB"])
    return table(["row", "steps, s", "training and evaluation", "peak memory"], cells)


def rows_figure(spec: TableSpec, rows: Sequence[RowSummary]) -> Figure:
    """Return the metrics of a table's figure as bars, in percent; whiskers are one standard deviation over seeds."""
    values = {metric: [row.strata[ALL][metric] for row in rows] for metric in spec.figure}
    means = {metric: [100 * value.mean for value in by_row] for metric, by_row in values.items()}
    spread = {metric: [100 * (value.sd or 0) for value in by_row] for metric, by_row in values.items()}
    return bar_chart([row.spec.name for row in rows], means, spread, title=spec.title, ylabel="%")


def table(columns: Sequence[str], rows: Iterable[Iterable[object]], *, numbers: Container[int] = ()) -> list[str]:
    """Return the lines of a Markdown table; the columns at the places `numbers` are aligned right."""
    marks = ["---:" if place in numbers else "---" for place in range(len(columns))]
    return [f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |" for cells in (columns, marks, *rows)]


def _body(spec: TableSpec, rows: Sequence[RowSummary], picture: str) -> list[str]:
    lines = [*main_table(spec, rows), ""]
    if spec.paper_read_in:
        read = f"{PAPER}: the paper's figures on BSARD, read in {spec.paper_read_in}."
        lines += [f"{read} On another corpus compare the order of the rows, not the size of the figures.", ""]
    lines += [*(picture and [f"![{spec.title}]({picture})", ""]), "## Differences", "", *differences_table(rows), ""]
    for part in PARTS:
        lines += [f"## {part.title()} questions", "", *stratum_table(spec, rows, part), ""]
        if any(part in row.differences for row in rows):
            lines += [*differences_table(rows, part), ""]
    return lines


def _body_by_set(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    parts = {
        f"{name}: {part}": stratum
        for name, strata in strata_by_set(rows[0].strata).items()
        for part, stratum in strata.items()
    }
    lines = [_FIGURES_BY_SET, "", *main_tables(spec, rows), ""]
    for title, stratum in parts.items():
        if not title.endswith(f": {ALL}"):
            lines += [f"## {title}", "", *stratum_table(spec, rows, stratum), ""]
    against = dict.fromkeys(row.against for row in rows if row.differences)
    if against:
        lines += [f"## Differences from {', '.join(against)}", "", _ADJUSTED, ""]
        for title, stratum in parts.items():
            lines += [f"### {title}", "", *_comparison_table(rows, stratum, by_set=True), ""]
    if any(row.best_signals for row in rows):
        lines += ["## Beside the best signal alone", "", f"{_SIGNALS} {_ADJUSTED}", ""]
        for title, stratum in parts.items():
            beside = _comparison_table(rows, stratum, by_set=True, of_signals=True)
            lines += [f"### {title}, best signal", "", *beside, ""]
    return lines


def _teachers(rows: Sequence[RowSummary]) -> list[str]:
    """Return a table of how alike student and teacher were in the last epoch of each row that noted it."""
    noted = {row.spec.name: [run.about.get("learning_curve") or [{}] for run in row.results.values()] for row in rows}
    ends = {name: [curve[-1] for curve in curves] for name, curves in noted.items()}
    shown = {name: last for name, last in ends.items() if all(_TEACHER[0] in record for record in last)}
    if not shown:
        return []
    means = [
        [name, *(f"{np.mean([record[measure] for record in last]):.3f}" for measure in _TEACHER)]
        for name, last in shown.items()
    ]
    return ["## Student and teacher", "", _TEACHER_NOTE, "", *table(["row", *_TEACHER], means), ""]


def _figures(spec: TableSpec, row: RowSummary, stratum: str) -> list[str]:
    """Return the cells of a row: its name, its number of seeds, and each metric in percent."""
    cells = [row.spec.name, str(len(row.results))]
    for metric in spec.metrics:
        value, interval = row.strata[stratum][metric], row.intervals.get(stratum, {}).get(metric)
        spread = "" if value.sd is None else f" ± {100 * value.sd:.1f}"
        ends = "" if interval is None else f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
        cells.append(f"{100 * value.mean:.1f}{spread}{ends}")
    return cells


def _comparison_table(
    rows: Sequence[RowSummary], stratum: str, *, by_set: bool = False, of_signals: bool = False
) -> list[str]:
    """Return the table of the differences of rows in a stratum: from the row that each is `against`, or from its best
    signal, whose name stands in front; `by_set` with p-values adjusted for their number."""
    compared: list[tuple[RowSummary, Mapping[str, tuple[str, Comparison]]]] = []
    for row in rows:
        plain = {metric: ("", comparison) for metric, comparison in row.differences.get(stratum, {}).items()}
        by_metric = row.best_signals.get(stratum, {}) if of_signals else plain
        if by_metric:
            compared.append((row, by_metric))
    p_values = [comparison.p_value for _, by_metric in compared for _, comparison in by_metric.values()]
    shown = iter(adjusted_p_values(p_values) if by_set else p_values)
    cells = [
        [
            *([row.spec.name] if by_set else [row.spec.name, row.against]),
            *(f"{signal and f'{signal}: '}{_difference(found, next(shown))}" for signal, found in by_metric.values()),
        ]
        for row, by_metric in compared
    ]
    return table([*(["row"] if by_set else ["row", "against"]), *(compared[0][1] if compared else ())], cells)


def _difference(comparison: Comparison, p_value: float) -> str:
    low, high = 100 * comparison.low, 100 * comparison.high
    significant = (low > 0 or high < 0) and p_value < SIGNIFICANCE_LEVEL
    p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    return f"{100 * comparison.difference:+.1f} [{low:+.1f}, {high:+.1f}], {p}{'' if significant else ', n.s.'}"


def _steps(runs: Sequence[RunResult]) -> str:
    seconds: dict[str, list[float]] = {}
    for run in runs:
        for step in run.about["steps"]:
            seconds.setdefault(step["name"], []).append(step["seconds"])
    return ", ".join(f"{name} {np.mean(values):.0f}" for name, values in seconds.items())
