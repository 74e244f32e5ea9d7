"""docs/results.md: the differences and figures that it cites, from the published tables, and their forest plot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path

import numpy as np

from benchmarks.plots import Bar, bars, svg
from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, Comparison, adjusted_p_values, compare
from statgraph.studies.store import RunResult
from statgraph.studies.summary import ALL, COMPARED_BY_SET, RowSummary
from statgraph.studies.table_files import read_values
from tools.results_page import saved_table

# [METRIC and what was found](results/TABLE.md "row"): a difference of that row; "row / stratum" of these questions;
# "row over other" from another row than the table's, by its name or by one of `_SHORT`.
_CITED = re.compile(r'\[(?P<metric>[^\s\]]+)[^("]*\]\((?P<file>results/(?P<table>[\w-]+)\.md) "(?P<of>[^"]+)"\)')
_RANKERS = re.compile(r"^\| ranker \|(?P<columns>.+)\|\n\| .*\n(?P<rows>(?:\|.*\n)+)", re.MULTILINE)
_SHORT = {"fusion": "BM25 and e5-small by weighted sum", "untrained": "ensemble without any question"}
_RANKED = {"BM25": "BM25 tuned", "BM25 and e5-small": "BM25 and e5-small by weighted sum"}
_LEARNT = {"trained parts, fused": "BM25, trained encoders and votes, fused"}
_OURS = {"statgraph": "ensemble"}
# A heading, a published table, which of its questions, and the row of each bar by its label.
_FIRST_THREE = (
    ("French law", "cross-validation", ALL, _RANKED | _LEARNT | _OURS),
    ("French law, articles that training cites", "cross-validation", "seen", _RANKED | _LEARNT | _OURS),
    ("French law, articles that training does not cite", "cross-validation", "unseen", _RANKED | _LEARNT | _OURS),
    (
        "the embedded sample",
        "ranking-sample",
        ALL,
        {**_RANKED, "BM25 and e5-small": "BM25 and e5-small by RRF"} | _OURS,
    ),
    ("German posts, other topics", "ranking-gerlayqa-by-topics", ALL, _RANKED | _LEARNT | _OURS),
    ("Chinese law, other topics", "ranking-stard-by-topics", ALL, _RANKED | _LEARNT | _OURS),
    ("Indonesian law, other topics", "ranking-kuhperdata-by-topics", ALL, _RANKED | _LEARNT | _OURS),
)
_GAPS = {"group": 10, "finding": 3, "law": 0}  # above a line of the plot
_LINK = re.compile(r"\(results/([\w-]+)\.md\)")
_LEFT, _WIDTH, _STEP, _TOP = 190, 280, 17, 24  # of the plot: where its axis begins, how wide it is, a line, its top


@dataclass(frozen=True)
class Cited:
    """A difference that the page cites, with its place in the text."""

    start: int
    end: int
    metric: str
    link: str
    difference: Comparison
    significant: bool

    def text(self) -> str:
        """Return the link, whose text is the difference."""
        low, mid, high = (100 * getattr(self.difference, name) for name in ("low", "difference", "high"))
        return f"[{self.metric} {mid:+.1f} [{low:+.1f}, {high:+.1f}]{'' if self.significant else ' n.s.'}]{self.link}"


def page(text: str, folder: Path) -> str:
    """Return the page with each difference, and each figure of its table of rankers, as saved in `folder`.

    The lines of that table name rows of the first file linked below it. A difference is significant if its interval
    leaves 0 out and its p, adjusted for all comparisons of its table on the same questions, is below 0.05.

    Raises:
        ValueError: if a table has no such row or comparison.
        RunError: if a file cannot be read.
    """
    for cited in reversed(list(_cited(text, folder))):
        text = text[: cited.start] + cited.text() + text[cited.end :]
    return _RANKERS.sub(lambda table: _rankers(table, folder), text)


def plot(text: str, folder: Path) -> str:
    """Return the forest plot of a page as SVG, narrow enough for a telephone: the differences of each "- Finding: LAW
    [...](...), ...; LAW ...", under it and the question of its section; of each law the first."""
    lines: list[tuple[str, str, Cited | None]] = []  # the class of a line, its label, its difference
    for line in text.splitlines():
        if line.startswith("## "):
            lines.append(("group", line.removeprefix("## "), None))
        finding, _, cases = line.removeprefix("- ").partition(": ")
        cited = [(case, next(_cited(case, folder), None)) for case in cases.split("; ") if line.startswith("- ")]
        laws = [("law", f"{case[: one.start].strip()}, {one.metric}", one) for case, one in cited if one]
        lines += [("finding", finding.replace("`", ""), None), *laws] if laws else []
    kinds = [kind for kind, *_ in lines]
    following = [*kinds[1:], "group"]
    lines = [line for line, after in zip(lines, following, strict=True) if (line[0], after) != ("group",) * 2]
    ends = [end for *_, cited in lines if cited for end in (cited.difference.low, cited.difference.high)]
    low, high = int(10 * (min(ends) * 100 // 10)), int(-10 * (-max(ends) * 100 // 10))
    height = _TOP + _STEP * (len(lines) + 1) + sum(_GAPS[kind] for kind, *_ in lines)

    def x(points: float) -> float:
        return round(_LEFT + _WIDTH * (points - low) / (high - low), 1)

    parts = [
        f'<path class="{"grid" if tick else "axis"}" d="M{x(tick)} {_TOP}V{height}"/>'
        f'<text x="{x(tick)}" y="{_TOP - 8}" text-anchor="middle">{f"{tick:+d}" if tick else 0}</text>'
        for tick in range(low, high + 1, 10)
    ]
    y = _TOP
    for kind, label, cited in lines:
        y += _STEP + _GAPS[kind]
        if cited is None:
            parts.append(f'<text class="{kind}" x="0" y="{y + 4}">{escape(label)}</text>')
            continue
        kind, one = "ours" if cited.significant else "open", cited.difference
        parts += [
            f'<text x="{_LEFT - 10}" y="{y + 4}" text-anchor="end">{escape(label)}</text>',
            f'<path class="{kind}" d="M{x(100 * one.low)} {y}H{x(100 * one.high)}"/>',
            f'<circle class="{kind}" cx="{x(100 * one.difference)}" cy="{y}" r="3.5"/>',
        ]
    return svg(_LEFT + _WIDTH + 20, height + 10, parts)


def first_three(folder: Path) -> str:
    """Return bars with intervals as SVG: how many questions have a right article among the first three, by law."""
    groups = {}
    for heading, table, stratum, rows in _FIRST_THREE:
        found = {row.spec.name: row.intervals[stratum]["S@3"] for row in rows_of(folder, table)}
        groups[heading] = [
            Bar(label, [100 * one.mean], row == "ensemble", [(100 * one.low, 100 * one.high)])
            for label, row in rows.items()
            for one in [found[row]]
        ]
    return bars({"a right article among the first three, % of questions": "{:.1f}"}, groups)


@cache
def rows_of(folder: Path, table: str) -> list[RowSummary]:
    """Return the rows of a published table."""
    return saved_table(read_values(folder / f"{table}.json.gz"))[1]


def _cited(text: str, folder: Path) -> Iterator[Cited]:
    """Yield the differences that a text cites."""
    for match in _CITED.finditer(text):
        metric, table = match["metric"], match["table"]
        rows, _, stratum = match["of"].partition(" / ")
        name, _, other = rows.partition(" over ")
        other = _SHORT.get(other, other)
        family = (
            _over(folder / f"{table}.json.gz", name, other, stratum or ALL)
            if other
            else [
                (row.spec.name, *compared)
                for row in rows_of(folder, table)
                for compared in row.differences.get(stratum or ALL, {}).items()
            ]
        )
        q_values = adjusted_p_values([comparison.p_value for *_, comparison in family])
        places = [place for place, (*one, _) in enumerate(family) if one == [name, metric]]
        if not places:
            raise ValueError(f"docs/results.md: {table} compares no {metric} of '{match['of']}'")
        difference = family[places[0]][-1]
        significant = difference.significant and bool(q_values[places[0]] < SIGNIFICANCE_LEVEL)
        link = f'({match["file"]} "{match["of"]}")'
        yield Cited(match.start(), match.end(), metric, link, difference, significant)


def _rankers(table: re.Match[str], folder: Path) -> str:
    """Return the table of rankers with its figures."""
    file = _LINK.findall(table.string[table.end() :])[0]
    means = {row.spec.name: row.strata[ALL] for row in rows_of(folder, file)}
    metrics, lines = [cell.strip() for cell in table["columns"].split("|")], []
    for name in (line.split("|")[1].strip() for line in table["rows"].splitlines()):
        if name not in means:
            raise ValueError(f"docs/results.md: no ranker '{name}' in {file}")
        lines.append(f"| {name} | {' | '.join(f'{100 * means[name][metric].mean:.1f}' for metric in metrics)} |\n")
    return table[0].replace(table["rows"], "".join(lines))


@cache
def _over(path: Path, name: str, other: str, stratum: str) -> list[tuple[str, str, Comparison]]:
    """Return a row's differences from another of its table, as (row, metric, difference)."""
    values = read_values(path)
    before, after = (
        [
            RunResult.from_dict(run, values["questions"]).of(stratum)
            for place, run in values["runs"].items()
            if place.rpartition(", seed ")[0] == row
        ]
        for row in (other, name)
    )
    metrics = [metric for metric in COMPARED_BY_SET if all(metric in seed.values for seed in after)]
    return [(name, metric, compare(before, after, metric, np.random.default_rng(0))) for metric in metrics]
