"""The tables on docs/tables.md, the p-values adjusted over the page: `make docs` writes them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from statgraph import artifacts
from statgraph.evaluation.significance import SIGNIFICANCE_LEVEL, adjusted_p_values
from statgraph.studies.rendering import PAPER, header, line

_FIGURES, _DIFFERENCES = _TABLES = "| row | seeds |", "| row | against |"
_LINK = re.compile(r"\(results/([\w-]+)\.md\)")
_COUNT = re.compile(r"\d+ distinct comparisons")
_SIZE = r"([+-]\d+\.\d) \[([+-]\d+\.\d), ([+-]\d+\.\d)\]"
_DIFFERENCE = re.compile(rf"{_SIZE}, p (?:= |(<) )(\d\.\d+)(, n\.s\.)?")
_SPREAD = re.compile(r"\d+\.\d ± (\d+\.\d)")


@dataclass(frozen=True)
class _Difference:
    """One comparison as a published table prints it: in points, with the ends of its interval and its p-value, for
    which a bound such as "< 0.001" is taken."""

    difference: float
    low: float
    high: float
    p_value: float
    told: bool

    @staticmethod
    def read(cell: str) -> _Difference:
        found = _DIFFERENCE.fullmatch(cell)
        if found is None:
            raise ValueError(f"'{cell}' is not a difference as 'statgraph reproduce' prints it")
        difference, low, high, _, p_value, not_told = found.groups()
        return _Difference(float(difference), float(low), float(high), float(p_value), not not_told)

    def either_way(self) -> tuple[float, ...]:
        """Return what is the same for "A against B" and "B against A"."""
        mirrored = (-self.difference, -self.high, -self.low)
        return (*max((self.difference, self.low, self.high), mirrored), self.p_value)

    def text(self, q_value: float, seeds_sd: float) -> str:
        mark = "†" if seeds_sd > (self.high - self.low) / 2 else ""
        told = self.told and q_value < SIGNIFICANCE_LEVEL
        size = f"{self.difference:+.1f} [{self.low:+.1f}, {self.high:+.1f}]{mark}"
        return f"{size}, q = {q_value:.3f}{'' if told else ', n.s.'}"


@dataclass(frozen=True)
class _Table:
    """The tables of one stratum in a published file: the lines of its `figures`, its differences, (row, against) ->
    metric -> difference, and the standard deviation over seeds of each row: row -> metric -> points."""

    stratum: str
    figures: list[str]
    differences: Mapping[tuple[str, str], Mapping[str, _Difference]]
    seeds_sd: Mapping[str, Mapping[str, float]]

    def tests(self) -> Iterator[tuple]:
        """Yield what tells each comparison from the others, the same for one that another table repeats."""
        for of_row in self.differences.values():
            for metric, found in of_row.items():
                yield self.stratum, metric, *found.either_way()

    def lines(self, q_values: Mapping[tuple, float]) -> list[str]:
        tests = self.tests()
        lines = header(["row", "against", *next(iter(self.differences.values()))])
        for names, of_row in self.differences.items():
            cells = [
                found.text(q_values[next(tests)], self._seeds_sd(names, metric)) for metric, found in of_row.items()
            ]
            lines.append(line([*names, *cells]))
        return lines

    def _seeds_sd(self, names: tuple[str, str], metric: str) -> float:
        return max(self.seeds_sd.get(name, {}).get(metric, 0.0) for name in names)


def page(text: str, folder: Path) -> str:
    """Return the page with each table of figures and of differences as published, p-values adjusted.

    A table is that of the first file of `folder` linked below it. Adjusted are all comparisons of these
    files (Benjamini and Hochberg), over all questions and in the strata, each once. † marks a difference where a row
    deviates more between seeds than half the interval's width.

    Raises:
        ValueError: if a table has no link below it, or a published one cannot be read.
    """
    lines = text.splitlines()
    below = {number: _linked(lines[number:]) for number, row in enumerate(lines) if row.startswith(_TABLES)}
    published = {name: _read(folder / f"{name}.md") for name in dict.fromkeys(below.values())}
    tests = {test: test[-1] for tables in published.values() for table in tables for test in table.tests()}
    q_values = dict(zip(tests, adjusted_p_values(list(tests.values())), strict=True))
    written: list[str] = []
    inside = False
    for number, row in enumerate(lines):
        inside = inside and row.startswith("|")
        if number in below:
            table = published[below[number]][0]
            written += table.lines(q_values) if row.startswith(_DIFFERENCES) else table.figures
            inside = True
        elif not inside:
            written.append(row)
    return _COUNT.sub(f"{len(tests)} distinct comparisons", "\n".join(written) + "\n")


def _linked(lines: list[str]) -> str:
    found = _LINK.search("\n".join(lines))
    if found is None:
        raise ValueError(f"'{lines[0]}': no link to a file of results/ below this table")
    return found[1]


def _read(path: Path) -> list[_Table]:
    """Return a published file's tables, those over all questions first."""
    tables: list[_Table] = []
    stratum, columns, figures = "", [], []
    for row in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if row.startswith("## "):
            stratum, columns = row.removeprefix("## "), []
        elif row.startswith(_FIGURES):
            columns, seeds_sd, figures = cells, {}, [row]
        elif row.startswith(_DIFFERENCES):
            columns = cells
            tables.append(_Table(stratum, _without_empty_column(figures), {}, seeds_sd))
        elif row.startswith("| row |") or not row.startswith("|"):
            columns = []
        elif columns:
            values = dict(zip(columns[2:], cells[2:], strict=True))
            if columns[1] == "seeds":
                figures.append(row)
                spreads = {name: _SPREAD.fullmatch(value) for name, value in values.items()}
                seeds_sd[cells[0]] = {name: float(found[1]) for name, found in spreads.items() if found}
            elif cells[0] != "---":
                tables[-1].differences[cells[0], cells[1]] = {name: _Difference.read(v) for name, v in values.items()}
    return tables


def _without_empty_column(figures: list[str]) -> list[str]:
    """Return a table's lines without the column for the paper's figures where none could be read."""
    if not figures[0].endswith(f"| {PAPER} |"):
        return figures
    return [row[: row.rindex("|", 0, -1) + 1] for row in figures]


if __name__ == "__main__":
    target = Path(sys.argv[1])
    artifacts.write_text(target, page(target.read_text(encoding="utf-8"), target.parent / "results"))
