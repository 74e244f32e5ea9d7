"""Kills: a command is ended by SIGKILL at a random moment, or at a random step on the disk, and then run again."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.trials.campaign import Outcome, left_over, tried
from tests.trials.child import Done, command
from tests.trials.jobs import Job, all_jobs
from tests.trials.material import Material

_STEPS = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod")
_COUNT = "steps"


@dataclass(frozen=True)
class Undisturbed:
    """How a job ends by itself: what it leaves, the seconds, and its steps on the disk."""

    state: Mapping[str, str]
    seconds: float
    steps: int


def kills(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many kills, shared out among the jobs."""
    jobs = [job for job in all_jobs(material) if not only or job.name in only]
    known: dict[str, Undisturbed] = {}
    figures = {job.name: 0 for job in jobs}

    def case(rng: random.Random, number: int) -> Iterator[str]:
        job = jobs[number % len(jobs)]
        if job.name not in known:
            known[job.name] = undisturbed(job, material.folder)
        whole = known[job.name]
        by_time = rng.random() < 0.5
        before, kill_after = (lambda: None), None
        if by_time:
            kill_after = rng.uniform(0, 1.05 * whole.seconds)
        else:
            step = rng.randint(1, whole.steps)
            before = lambda: killed_at(step)  # noqa: E731
        figures[job.name] += 1
        where = f"{job.name}, killed {f'after {kill_after:.3f} s' if by_time else f'at step {step} of {whole.steps}'}"
        for problem in cut_short(job, whole, material.folder, before, kill_after=kill_after)[1]:
            yield f"{where}: {problem}"

    return tried("kills", case, cases=cases, seed=seed, figures=figures)


def cut_short(
    job: Job,
    whole: Undisturbed,
    place: Path,
    before: Callable[[], object],
    *,
    kill_after: float | None = None,
    room_again: Callable[[], object] = lambda: None,
) -> tuple[Done, list[str]]:
    """Return how a job ended that was disturbed, and what was wrong with what it left and with going on from there.

    Args:
        place: where its folder is made.
        before: disturbs it, in its process.
        room_again: ends what disturbed it, before it goes on.
    """
    folder = place / "case"
    folder.mkdir()
    try:
        job.prepare(folder)
        old = job.state(folder)
        done = command(job.arguments, folder, before=before, kill_after=kill_after)
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


def undisturbed(job: Job, place: Path) -> Undisturbed:
    """Return how a job ends by itself; raise RuntimeError where it does not, or not twice the same."""
    states, done = [], None
    for _ in range(2):
        folder = place / "whole"
        folder.mkdir()
        job.prepare(folder)
        done = command(job.arguments, folder, before=count_steps)
        if done.code:
            raise RuntimeError(f"{job.name}: {done.end}")
        states.append(job.state(folder))
        steps = int((folder / _COUNT).read_text())
        shutil.rmtree(folder)
    if states[0] != states[1]:
        raise RuntimeError(f"{job.name}: two runs differ in {differing(*states)}")
    return Undisturbed(states[0], done.seconds, steps)


def on_each_step(called: Callable[[], object]) -> None:
    """Call a function before each step on the disk under the working directory, in this process from now on."""
    here = os.getcwd()

    def hook(event: str, arguments: tuple) -> None:
        if event == "open":
            path, _, flags = arguments
            steps = isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR))
        else:
            path, steps = arguments[0] if arguments else None, event in _STEPS
        if steps and isinstance(path, (str, bytes, os.PathLike)):
            name = os.path.join(here, os.fsdecode(path))
            if name.startswith(here) and not name.endswith(f"/{_COUNT}"):
                called()

    sys.addaudithook(hook)


def killed_at(step: int) -> None:
    """End this process by SIGKILL at its n-th step on the disk."""
    left = [step]

    def count() -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    on_each_step(count)


def count_steps() -> None:
    """Write the number of this process's steps on the disk to a file, again after each."""
    done = [0]
    place = os.path.join(os.getcwd(), _COUNT)
    descriptor = os.open(place, os.O_WRONLY | os.O_CREAT, 0o644)

    def count() -> None:
        done[0] += 1
        os.pwrite(descriptor, str(done[0]).encode(), 0)

    os.pwrite(descriptor, b"1", 0)
    on_each_step(count)
