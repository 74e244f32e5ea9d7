"""What a campaign is: so many cases drawn by a seed, and what went wrong in them."""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Outcome:
    """What came of a campaign: a row of docs/reliability.md, and a line for each failure with the case's number, which
    gives it again."""

    campaign: str
    cases: int
    failures: tuple[str, ...]
    seconds: float
    seed: int

    @property
    def row(self) -> str:
        """Return the row of a Markdown table: campaign, cases, failures, seconds."""
        return f"| {self.campaign} | {self.cases:,} | {len(self.failures)} | {self.seconds:,.0f} |"


# Of one case: a random generator of its own and the number of the case -> what went wrong, a line each.
Case = Callable[[random.Random, int], Iterator[str]]


def tried(campaign: str, case: Case, *, cases: range, seed: int) -> Outcome:
    """Return the outcome of these cases, each drawn by the seed and its number alone; Ctrl-C ends them earlier."""
    start, failures, done = time.perf_counter(), [], 0
    with suppress(KeyboardInterrupt):
        for number in cases:
            for problem in case(random.Random(f"{seed}/{campaign}/{number}"), number):
                failures.append(f"case {number}: {problem}")
                print(f"{campaign}, {failures[-1]}", file=sys.stderr, flush=True)
            done += 1
    return Outcome(campaign, done, tuple(failures), round(time.perf_counter() - start, 1), seed)


def left_over(folder: Path) -> list[str]:
    """Return what should be gone once a command has ended: hidden names, and the finished parts of files to come."""
    names = (path for path in folder.rglob("*") if path.name.startswith(".") or path.name.endswith(".partial"))
    return sorted(path.relative_to(folder).as_posix() for path in names)
