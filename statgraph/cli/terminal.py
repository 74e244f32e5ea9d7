"""What commands show on a terminal: progress bars on standard error, tables, the steps of a run."""

from __future__ import annotations

import codecs
import json
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from rich.progress import TaskID

    from statgraph.progress import Step

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def visible(text: str) -> str:
    """Return a text with its control characters written out, but for line ends and tabs: in a file of somebody else's
    they could move the cursor or colour the terminal."""
    return _CONTROLS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def escape_unwritable(stream: TextIO) -> None:
    r"""Let a stream write characters that its encoding lacks as JSON does: \u0142 for ł on a terminal of latin-1."""
    codecs.register_error("json", _escaped)
    if isinstance(stream, TextIOWrapper) and stream.errors == "strict":
        stream.reconfigure(errors="json")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


class TerminalProgress(AbstractContextManager["TerminalProgress", None]):
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
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> TerminalProgress:
        self._progress.start()
        return self

    def __exit__(self, *error: object) -> None:
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


def print_steps(steps: Iterable[Mapping[str, Any]]) -> None:
    """Print the name, time and peak memory of each step of a run's manifest."""
    for step in steps:
        click.echo(f"  {step['name']:<28}{step['seconds']:>8.1f} s{step['peak_mib']:>8,} MiB")


def megabytes(n_bytes: int) -> str:
    """Return a size as it is printed."""
    return f"{n_bytes / 1e6:,.1f} MB"
