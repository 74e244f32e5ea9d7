"""A finished table as Markdown (what it is, the figures beside the paper's, differences, strata, times) and picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from statgraph.corpus.records import MAIN_SET, SPLITS, Corpus
from statgraph.evaluation.plots import Labels, bar_chart, line_chart
from statgraph.evaluation.significance import Comparison
from statgraph.studies.spec import BARS, TableSpec
from statgraph.studies.store import RunResult
from statgraph.studies.summary import PARTS, RowSummary, SeedSummary

ABSENT = "-"
PAPER = "paper (BSARD)"
TIME_NOTE = (
    "Means over seeds; memory is the highest of the process during the run. A first stage that another row had trained "
    "with the same settings is taken from it, and then costs no time here. A member of an ensemble that another row "
    "had trained is taken from it too; the time and memory that it took then are counted."
)


@dataclass(frozen=True)
class About:
    """What a table says of itself beside its figures."""

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
    lines = [
        *opening(spec, about),
        *main_table(spec, rows),
        "",
        *_paper_note(spec),
        *(picture and [f"![{spec.title}]({picture})", ""]),
    ]
    lines += ["## Differences", "", *differences_table(rows), ""]
    for part in PARTS:
        lines += [f"## {part.title()} questions", "", *stratum_table(spec, rows, part), ""]
        if any(part in row.differences for row in rows):
            lines += [*differences_table(rows, part), ""]
    lines += ["## Time and memory", "", TIME_NOTE, "", *time_table(rows)]
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
        lines.append("- Rows were trained at different commits: see `commit` of each run in table.json")
    lines += [f"- Missing: {line}" for line in about.missing]
    return [*lines, ""]


def main_table(spec: TableSpec, rows: Sequence[RowSummary]) -> list[str]:
    """Return the table over all questions, in percent: mean ± standard deviation over seeds, then the paper's."""
    in_paper = [metric for metric in spec.metrics if any(metric in row.paper for row in spec.rows)]
    paper_columns = [f"{metric}, {PAPER}" for metric in in_paper] or [PAPER]
    table = header(["row", "seeds", *spec.metrics, *paper_columns])
    for row in rows:
        paper = [_figure(row.spec.paper.get(metric)) for metric in in_paper] or [ABSENT]
        ours = [_spread(row.strata["all"][metric]) for metric in spec.metrics]
        table.append(line([row.spec.name, str(len(row.results)), *ours, *paper]))
    return table


def stratum_table(spec: TableSpec, rows: Sequence[RowSummary], stratum: str) -> list[str]:
    """Return the table over the questions of one stratum."""
    held = [row for row in rows if stratum in row.strata]
    if not held:
        return ["No question is of this kind."]
    lines = [f"{held[0].n_questions[stratum]} questions.", "", *header(["row", "seeds", *spec.metrics])]
    for row in held:
        ours = [_spread(row.strata[stratum][metric]) for metric in spec.metrics]
        lines.append(line([row.spec.name, str(len(row.results)), *ours]))
    return lines


def differences_table(rows: Sequence[RowSummary], stratum: str = "all") -> list[str]:
    """Return how far each row is from the one that it is compared with, over the questions of a stratum."""
    compared = [row for row in rows if stratum in row.differences]
    if not compared:
        return ["No two rows to compare yet."]
    shown = list(compared[0].differences[stratum])
    lines = [
        "In points, each question's value averaged over seeds: difference [95 % bootstrap interval], p of a paired "
        "permutation test; n.s.: the interval holds 0, or p is 0.05 or more.",
        "",
        *header(["row", "against", *shown]),
    ]
    for row in compared:
        cells = [_difference(row.differences[stratum][metric]) for metric in shown]
        lines.append(line([row.spec.name, row.against, *cells]))
    return lines


def time_table(rows: Sequence[RowSummary]) -> list[str]:
    """Return what each row took: the mean over seeds of the seconds of each step, and the highest memory."""
    lines = header(["row", "steps, s", "training and evaluation", "peak memory"])
    for row in rows:
        runs = list(row.results.values())
        taken = [member for run in runs for member in run.about.get("taken", ())]
        seconds = sum(run.about["seconds"] for run in runs) + sum(member["seconds"] for member in taken)
        wall = f"{seconds / len(runs):.0f} s"
        if any(run.about["resumed"] for run in runs):
            wall += " (resumed: its last part alone)"
        steps = [step for run in runs for step in run.about["steps"]]
        peak = max((step["peak_mib"] for step in (*steps, *taken)), default=0)
        lines.append(line([row.spec.name, _steps(runs), wall, f"{peak:,} MiB"]))
    return lines


def draw_rows(spec: TableSpec, rows: Sequence[RowSummary], path: Path) -> None:
    """Draw the metrics of a table's figure over its rows, in percent; the whiskers are one standard deviation over
    seeds."""
    names = [row.spec.name for row in rows]
    values = {metric: [row.strata["all"][metric] for row in rows] for metric in spec.figure.metrics}
    means = {metric: [100 * value.mean for value in column] for metric, column in values.items()}
    spread = {
        metric: [(100 * (value.mean - (value.sd or 0)), 100 * (value.mean + (value.sd or 0))) for value in column]
        for metric, column in values.items()
    }
    if spec.figure.kind == BARS:
        bar_chart(names, means, spread, path, Labels(spec.title, y_name="%"))
    else:
        places = list(range(1, len(names) + 1))
        lines = {metric: (places, column) for metric, column in means.items()}
        line_chart(lines, path, Labels(spec.title, "row of the table", "%"), errors=spread)


def _paper_note(spec: TableSpec) -> list[str]:
    if not spec.paper_read_in:
        return []
    read = f"{PAPER}: the paper's figures on BSARD, read in {spec.paper_read_in}."
    return [f"{read} On another corpus compare the order of the rows, not the size of the figures.", ""]


def _steps(runs: Sequence[RunResult]) -> str:
    seconds: dict[str, list[float]] = {}
    for run in runs:
        for step in run.about["steps"]:
            seconds.setdefault(step["name"], []).append(step["seconds"])
    return ", ".join(f"{name} {np.mean(values):.0f}" for name, values in seconds.items())


def header(names: Sequence[str]) -> list[str]:
    """Return the two lines above a table's rows."""
    return [line(names), line(["---"] * len(names))]


def line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _spread(value: SeedSummary) -> str:
    mean = f"{100 * value.mean:.1f}"
    return mean if value.sd is None else f"{mean} ± {100 * value.sd:.1f}"


def _figure(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.1f}"


def _difference(found: Comparison) -> str:
    size = f"{100 * found.difference:+.1f} [{100 * found.low:+.1f}, {100 * found.high:+.1f}]"
    p = "p < 0.001" if found.p_value < 0.001 else f"p = {found.p_value:.3f}"
    return f"{size}, {p}{'' if found.significant else ', n.s.'}"
