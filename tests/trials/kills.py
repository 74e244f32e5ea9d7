"""Kills: a command is ended by SIGKILL at a random moment, or at a random step on the disk, and then run again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.trials.campaign import Outcome, left_over, tried
from tests.trials.child import Done, command
from tests.trials.jobs import Job, all_jobs
from tests.trials.material import Material

_STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
_COUNT = "steps"
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Undisturbed:
    """How a job ends by itself: what it leaves, the seconds, its steps on the disk, and the pages that it fills."""

    state: Mapping[str, str]
    seconds: float
    steps: int
    pages: int


def kills(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many kills, shared out among the jobs."""
    jobs = [job for job in all_jobs(material) if not only or job.name in only]

    def case(rng: random.Random, number: int) -> Iterator[str]:
        job = jobs[number % len(jobs)]
        whole = undisturbed(job, material.folder)
        if rng.random() < 0.5:
            kill_after = rng.uniform(0, 1.05 * whole.seconds)
            where, disturbance = f"after {kill_after:.3f} s", {"kill_after": kill_after}
        else:
            step = rng.randint(1, whole.steps)
            where, disturbance = f"at step {step} of {whole.steps}", {"before": lambda: count_steps(killed_at=step)}
        for problem in cut_short(job, whole, material.folder, **disturbance)[1]:
            yield f"{job.name}, killed {where}: {problem}"

    return tried("kills", case, cases=cases, seed=seed)


def cut_short(
    job: Job,
    whole: Undisturbed,
    place: Path,
    *,
    room_again: Callable[[], object] = lambda: None,
    **disturbance: object,
) -> tuple[Done, list[str]]:
    """Return how a job ended that was disturbed, and what was wrong with what it left and with going on from there.

    Args:
        place: where its folder is made.
        room_again: ends what disturbed it, before it goes on.
        disturbance: of `command`.
    """
    folder = place / "case"
    folder.mkdir()
    try:
        job.prepare(folder)
        old = job.state(folder)
        done = command(job.arguments, folder, **disturbance)
        problems = [] if job.state(folder) in (None, old, whole.state) else ["what is half-written stands as whole"]
        room_again()
        may_refuse = job.ended(folder / job.artefact)
        after = command(job.again(folder), folder)
        if after.code and not may_refuse:
            problems.append(f"cannot be run again: {after.end}")
        if not problems and job.state(folder) != whole.state:
            problems.append(f"ends otherwise than undisturbed: {differing(job.state(folder), whole.state)}")
        problems += [f"left over: {name}" for name in left_over(folder)]
        return done, problems
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def differing(state: Mapping[str, str] | None, whole: Mapping[str, str]) -> str:
    """Return the files in which two states differ."""
    state = state or {}
    return ", ".join(sorted(name for name in {*state, *whole} if state.get(name) != whole.get(name)))


@cache
def undisturbed(job: Job, place: Path) -> Undisturbed:
    """Return how a job ends by itself; raise RuntimeError where it does not, or not twice the same."""
    states = []
    for _ in range(2):
        folder = place / "whole"
        folder.mkdir()
        job.prepare(folder)
        pages = _pages(folder)
        done = command(job.arguments, folder, before=count_steps)
        if done.code:
            raise RuntimeError(f"{job.name}: {done.end}")
        states.append(job.state(folder))
        steps, pages = int((folder / _COUNT).read_text()), max(1, _pages(folder) - pages)
        shutil.rmtree(folder)
    if states[0] != states[1]:
        raise RuntimeError(f"{job.name}: two runs differ in {differing(*states)}")
    return Undisturbed(states[0], done.seconds, steps, pages)


def _pages(folder: Path) -> int:
    return sum(-(-path.stat().st_size // PAGE_BYTES) for path in folder.rglob("*"))


def count_steps(*, killed_at: int | None = None) -> None:
    """Count the steps on the disk under the working directory, in this process from now on, into a file there; end the
    process by SIGKILL before one of them."""
    here, done = os.getcwd(), 0
    counted = os.open(os.path.join(here, _COUNT), os.O_WRONLY | os.O_CREAT, 0o644) if killed_at is None else None

    def hook(event: str, arguments: tuple) -> None:
        nonlocal done
        if event == "open":
            path, _, flags = arguments
            is_step = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
        else:
            path, is_step = arguments[0] if arguments else None, event in _STEPS
        if not is_step or not isinstance(path, (str, bytes, os.PathLike)):
            return
        if os.path.join(here, os.fsdecode(path)).startswith(here):
            done += 1
            if done == killed_at:
                os.kill(os.getpid(), signal.SIGKILL)
            if counted is not None:
                os.pwrite(counted, str(done).encode(), 0)

    if counted is not None:
        os.pwrite(counted, b"1", 0)
    sys.addaudithook(hook)
