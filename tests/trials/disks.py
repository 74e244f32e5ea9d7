"""Full disks: a command meets a disk of memory that ends at a random place, or, where none can be mounted, a limit on
the size of a file; then it goes on with more room."""

from __future__ import annotations

import os
import random
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.trials.campaign import Outcome, tried
from tests.trials.child import Done
from tests.trials.jobs import all_jobs
from tests.trials.kills import PAGE_BYTES, cut_short, undisturbed
from tests.trials.material import Material

_ROOMY_BYTES = 1 << 30


def disks(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many full disks, shared out among the jobs."""
    jobs = [job for job in all_jobs(material) if not only or job.name in only]
    disk = material.folder / "disk"
    disk.mkdir()
    mounts = _mount(disk, f"size={_ROOMY_BYTES}")

    def case(rng: random.Random, number: int) -> Iterator[str]:
        job = jobs[number % len(jobs)]
        whole = undisturbed(job, material.folder)
        room = PAGE_BYTES * rng.randint(1, whole.pages)
        if mounts:
            fill, empty = (lambda: _resize(disk, _used(disk) + room)), (lambda: _resize(disk, _ROOMY_BYTES))
            done, problems = cut_short(job, whole, disk, before=fill, room_again=empty)
        else:
            limit = (room, resource.RLIM_INFINITY)
            fill = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit)  # noqa: E731
            done, problems = cut_short(job, whole, material.folder, before=fill)
        yield from (f"{job.name}, room for {room:,} bytes: {problem}" for problem in (*_unreported(done), *problems))

    try:
        return tried("full disks", case, cases=cases, seed=seed)
    finally:
        if mounts:
            subprocess.run(["umount", str(disk)], check=True, capture_output=True)


def _unreported(done: Done) -> Iterator[str]:
    """Yield what is wrong with how a command reported that its disk was full."""
    if not done.is_reported:
        yield done.end
    elif done.code and sum(line.startswith("Error: ") for line in done.said.split("\n")) != 1:
        yield f"not one line: {done.end}"


def _mount(disk: Path, options: str) -> bool:
    command_line = ["mount", "-t", "tmpfs", "-o", options, "none", str(disk)]
    return subprocess.run(command_line, check=False, capture_output=True).returncode == 0


def _resize(disk: Path, n_bytes: int) -> None:
    subprocess.run(["mount", "-o", f"remount,size={n_bytes}", str(disk)], check=True, capture_output=True)


def _used(disk: Path) -> int:
    about = os.statvfs(disk)
    return (about.f_blocks - about.f_bfree) * about.f_frsize
