"""What measures share: where the data is, rivals that take turns, commands with their peak memory, rows."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus
from statgraph.runs.folders import newest_run
from statgraph.runs.run import RunFolder

STATGRAPH = (sys.executable, str(Path(__file__).parents[1] / "cli.py"))
# Runs `statgraph`, and prints the highest memory of its process at the end.
_WITH_PEAK = """
import atexit
from statgraph.cli.main import main
from statgraph.device import peak_memory_mib
atexit.register(lambda: print(peak_memory_mib()))
main()
"""


@dataclass(frozen=True)
class Row:
    """One line of the performance table.

    Attributes:
        what: what is measured, on how much.
        against: the rival; empty where there is none.
        reached: the figure as measured.
        figures: the numbers behind it (seconds, bytes, counts), JSON values.
        note: how it was measured.
    """

    what: str
    against: str
    reached: str
    figures: dict = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Settings:
    """Where the data of a measure is.

    Attributes:
        corpus: a corpus folder.
        run: a run folder trained on it; None for the newest.
        quick: whether to measure just enough to show that it works: nothing to report.
    """

    corpus: Path
    run: Path | None = None
    quick: bool = False

    def corpus_and_run(self) -> tuple[Corpus, RunFolder]:
        """Return the corpus and the run to measure.

        Raises:
            RunError: if there is no such run, or it was trained on another corpus.
        """
        corpus = read_corpus(self.corpus)
        run = RunFolder.read(self.run or newest_run())
        run.check_corpus(corpus)
        return corpus, run


@dataclass(frozen=True)
class Spread:
    """The median of some values, and their range."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the spread of values; there must be one at least."""
        return cls(statistics.median(values), min(values), max(values))


def taking_turns(
    works: Mapping[str, Callable[[Any], object]], cases: Sequence, *, warm_up: bool = True, pause_s: float = 0.0
) -> dict[str, list[float]]:
    """Return the seconds of each work by case: A B C, A B C, ... Whatever else the machine does falls on all of them.

    Args:
        works: what to time, by name; each takes a case.
        cases: what they are given, or the numbers of the rounds.
        warm_up: whether each does the first case before, untimed.
        pause_s: how long to wait before each is timed.
    """
    for work in works.values() if warm_up else ():
        work(cases[0])
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for case in cases:
        for name, work in works.items():
            time.sleep(pause_s)
            start = time.perf_counter()
            work(case)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def times_faster(ours: Sequence[float], theirs: Sequence[float]) -> Spread:
    """Return how many times faster `ours` is than `theirs`: the spread of each round's ratio."""
    return Spread.of([their / our for our, their in zip(ours, theirs, strict=True)])


def ratio_text(ratio: Spread) -> str:
    """Return "12.3 times [11.0 to 13.1]"."""
    digits = 1 if ratio.median < 100 else 0
    return f"{ratio.median:,.{digits}f} times [{ratio.low:,.{digits}f} to {ratio.high:,.{digits}f}]"


def seconds_text(seconds: Spread) -> str:
    """Return "1.23 s [1.20 to 1.31]", in ms below a tenth of a second."""
    factor, unit = (1000, "ms") if seconds.median < 0.1 else (1, "s")
    middle, low, high = (f"{factor * value:.3g}" for value in (seconds.median, seconds.low, seconds.high))
    return f"{middle} {unit} [{low} to {high}]"


def peak_of(arguments: Sequence[str], **variables: str) -> tuple[float, int]:
    """Return (wall seconds with Python's start, highest resident memory in MiB) of `statgraph ARGUMENTS...`, with
    environment variables of its own."""
    start = time.perf_counter()
    printed = output_of([sys.executable, "-c", _WITH_PEAK, *arguments], **variables)
    return time.perf_counter() - start, int(printed.splitlines()[-1])


def in_own_process(function: Callable[..., Any], **arguments: object) -> Any:
    """Return what a function of a module returns in a process of its own; arguments and result are JSON values.

    Raises:
        RuntimeError: if it failed.
    """
    code = f"from {function.__module__} import {function.__name__} as called"
    code += "\nimport json, sys\nprint(json.dumps(called(**json.loads(sys.argv[1]))))"
    return json.loads(output_of([sys.executable, "-c", code, json.dumps(arguments)]).splitlines()[-1])


def output_of(command: Sequence[str], **variables: str) -> str:
    """Return what a command printed.

    Raises:
        RuntimeError: if it failed.
    """
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}; mend it before it is measured")
    return done.stdout
