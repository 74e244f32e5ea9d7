"""What commands show on a terminal: progress bars on standard error, tables, the steps of a run, explanations."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from statgraph.progress import Step
    from statgraph.search.hits import Contribution, Explanation

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
MOST_SHOWN = 6  # neighbours of an explanation, contributions
LONGEST_TITLE = 90
# What contributes beside the signals.
_SOURCES = {
    "section": "best under its heading",
    "parent": "best under its higher heading",
    "cited_by": "articles that cite it",
    "cites": "articles that it cites",
    "article": "the article itself: length, place, how often it is cited",
    "all": "how it stands on all counts together",
    "base": "starting value, the same for every article",
}
# Where another article lends it.
_LENT = {
    "section": "under the same heading as {title}",
    "parent": "under the same higher heading as {title}",
    "cited_by": "cited by {title}",
    "cites": "cites {title}",
}
# What a neighbour is, by its relation, or by its kind; elsewhere the kind says it.
_NEIGHBOURS = {
    "precedes": "article before it",
    "follows": "article after it",
    "refers_to": "article that cites it",
    "referred_to_by": "article that it cites",
    "citing": "citing text",
}


def visible(text: str) -> str:
    """Return a text with its control characters written out, but for line ends and tabs: in a file of somebody else's
    they could move the cursor or colour the terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


class TerminalProgress(AbstractContextManager):
    """A bar for each step and each training stage, with loss and dev metric; where standard error is no terminal, a
    line now and then with the time that is left."""

    def __init__(self, *, shown: bool = True):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(bar_width=6),  # with all that stands beside it, 80 columns
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            TextColumn("{task.fields[detail]}"),
        )
        console = Console(stderr=True)
        self._progress = Progress(*columns, console=console, disable=not (shown and console.is_terminal))
        self._lines = ProgressLines() if shown and not console.is_terminal else None
        self._tasks: dict[str, int] = {}

    def __enter__(self) -> TerminalProgress:
        self._progress.start()
        return self

    def __exit__(self, *error) -> None:
        self._progress.stop()

    def __call__(self, step: Step) -> None:
        """Show how far a step is."""
        if self._lines:
            self._lines.add(step)
        if step.name not in self._tasks:
            self._tasks[step.name] = self._progress.add_task(step.name, total=step.total, detail="")
        self._progress.update(self._tasks[step.name], completed=step.done, detail=step.detail)


class ProgressLines:
    """Lines on standard error: of a step that takes longer than ten seconds, one then and one each minute."""

    _FIRST, _EVERY = 10.0, 60.0

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._begun: dict[str, tuple[float, int]] = {}
        self._last: dict[str, int] = {}
        self._due: dict[str, float] = {}

    def add(self, step: Step) -> None:
        """Take how far a step is; its first call begins it, and one that goes back begins it again."""
        now, name, done = self._clock(), step.name, step.done
        if done < self._last.get(name, done + 1):
            self._begun[name], self._due[name] = (now, done), now + self._FIRST
        self._last[name] = done
        begin, done_before = self._begun[name]
        if now < self._due[name] or not done_before < done < step.total:
            return
        self._due[name] = now + self._EVERY
        left = (now - begin) * (step.total - done) / (done - done_before)
        shown = f"{round(left / 60)} min" if left >= 90 else f"{round(left)} s"
        click.echo(f"{name}: {done / step.total:.0%}, about {shown} left{step.detail and ', '}{step.detail}", err=True)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column is aligned left and the others right."""
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for number, name in enumerate(columns):
        table.add_column(name, justify="right" if number else "left")
    for row in rows:
        table.add_row(*row)
    Console(highlight=False).print(table)


def print_steps(steps: Iterable[Mapping]) -> None:
    """Print the name, time and peak memory of each step of a run's manifest."""
    for step in steps:
        click.echo(f"  {step['name']:<28}{step['seconds']:>8.1f} s{step['peak_mib']:>8,} MiB")


def explanation_lines(explanation: Explanation, labels: Mapping[str, str] = MappingProxyType({})) -> list[str]:
    """Return an explanation as lines to read; `labels` are the words for an ensemble's signals, by their names."""
    note = [f"note: {explanation.note}"] if explanation.note else []
    score = _contribution_lines(explanation, labels) if explanation.contributions else _score_lines(explanation)
    return [*score, *_neighbour_lines(explanation), *_term_lines(explanation), *note]


def _contribution_lines(explanation, labels: Mapping[str, str]) -> list[str]:
    own = [part for part in explanation.contributions if part.source != "base"]
    base = [part for part in explanation.contributions if part.source == "base"]
    lines = [(part.amount, _contributed(part, explanation.article_id, labels)) for part in (*own[:MOST_SHOWN], *base)]
    if rest := own[MOST_SHOWN:]:
        lines.insert(MOST_SHOWN, (sum(part.amount for part in rest), _others(rest)))
    return [f"score {explanation.score:.3f}, the sum of:", *(f"  {amount:+7.3f}  {words}" for amount, words in lines)]


def _others(rest: Sequence) -> str:
    return f"{len(rest)} other{'s' * (len(rest) > 1)}"


def _contributed(part: Contribution, article_id: str, labels: Mapping[str, str]) -> str:
    """Return what contributed to an article, in words."""
    if part.article_id is not None and part.article_id != article_id:
        lender = _LENT[part.source].format(title=_shortened(part.title))
        return lender if part.rank is None else f"{lender}, which ranks {ordinal(part.rank)}"
    words = _SOURCES.get(part.source) or labels.get(part.source, part.source)
    return words if part.rank is None or part.article_id is not None else f"{words} ({ordinal(part.rank)})"


def ordinal(number: int) -> str:
    """Return 1st, 2nd, 3rd, 4th ..."""
    teen = 10 <= number % 100 < 20
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _score_lines(explanation) -> list[str]:
    own, without = explanation.own_text_score, explanation.without_questions_score
    if own is None:
        return []
    if own == explanation.score:
        return [f"score {explanation.score:.3f}: by its own text"]
    line = f"score {explanation.score:.3f}: {own:.3f} by its own text, {explanation.score - own:+.3f} by the graph"
    return [line if without is None else f"{line} ({without:.3f} without the training questions that cite it)"]


def _neighbour_lines(explanation) -> list[str]:
    neighbours = explanation.neighbours
    if not neighbours:
        return []
    lines = ["attention of the last layer (mean over heads, minimum to maximum):"]
    for neighbour in neighbours[:MOST_SHOWN]:
        shares = f"{neighbour.weight:6.1%} ({neighbour.least:.1%} to {neighbour.most:.1%})"
        kind = _NEIGHBOURS.get(neighbour.relation) or _NEIGHBOURS.get(neighbour.kind, neighbour.kind)
        named = "itself" if neighbour.relation == "itself" else f"{kind}: {_shortened(neighbour.title)}"
        lines.append(f"  {shares}  {named}")
    if rest := neighbours[MOST_SHOWN:]:
        lines.append(f"  {sum(neighbour.weight for neighbour in rest):6.1%} {_others(rest)}")
    return lines


def _term_lines(explanation) -> list[str]:
    if explanation.bm25_score is None:
        return []
    if not explanation.terms:
        return ["BM25: shares no word with the question"]
    terms = " + ".join(f"{term.term} {term.weight:.2f}" for term in explanation.terms)
    return [f"BM25: {terms} = {explanation.bm25_score:.2f}"]


def _shortened(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= LONGEST_TITLE else line[: LONGEST_TITLE - 3].rstrip() + "..."
