"""Full disks: a command meets a disk, or a limit of a file's size, that ends at a random place, and then goes on with
more room."""

from __future__ import annotations

import os
import random
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.trials.campaign import Outcome, tried
from tests.trials.child import Done, command
from tests.trials.jobs import Job, all_jobs
from tests.trials.kills import Undisturbed, cut_short, undisturbed
from tests.trials.material import Material

_PAGE_BYTES = 4096
_ROOMY_BYTES = 1 << 30


def disks(material: Material, *, cases: range, seed: int, only: tuple[str, ...] = ()) -> Outcome:
    """Return the outcome of so many full disks, shared out among the jobs: half of them limits of a file's size, half
    small disks of memory, where they can be mounted."""
    jobs = [job for job in all_jobs(material) if not only or job.name in only]
    known: dict[str, tuple[Undisturbed, int, int]] = {}
    mounts = can_mount(material.folder)
    figures = {"file size": 0, "disk": 0, "refused": 0, **{job.name: 0 for job in jobs}}

    def case(rng: random.Random, number: int) -> Iterator[str]:
        job = jobs[number % len(jobs)]
        if job.name not in known:
            known[job.name] = (undisturbed(job, material.folder), *sizes(job, material.folder))
        whole, largest, most = known[job.name]
        figures[job.name] += 1
        if mounts and rng.random() < 0.5:
            kind, limit = "disk", rng.randrange(_PAGE_BYTES, most + _PAGE_BYTES, _PAGE_BYTES)
            done, problems = _on_small_disk(job, whole, material.folder, limit)
        else:
            kind, limit = "file size", rng.randint(0, largest)
            done, problems = cut_short(job, whole, material.folder, lambda: _limit_files(limit))
        figures[kind] += 1
        figures["refused"] += done.code != 0
        where = f"{job.name}, {kind} {limit:,} bytes"
        if not done.is_told:
            yield f"{where}: {done.end}"
        elif done.code and sum(line.startswith("Error: ") for line in done.said.split("\n")) != 1:
            yield f"{where}: not one line: {done.end}"
        for problem in problems:
            yield f"{where}: {problem}"

    return tried("full disks", case, cases=cases, seed=seed, figures=figures)


def sizes(job: Job, place: Path) -> tuple[int, int]:
    """Return the bytes of the largest file that a job writes, and of all together."""
    folder = place / "sized"
    folder.mkdir()
    try:
        job.prepare(folder)
        before = _bytes(folder)
        command(job.arguments, folder)
        largest = max(path.stat().st_size for path in (folder / job.artefact, *folder.rglob("*")) if path.is_file())
        return largest, max(_PAGE_BYTES, _bytes(folder) - before)
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def can_mount(folder: Path) -> bool:
    """Return whether a disk of memory can be mounted here."""
    place = folder / "case"
    place.mkdir()
    try:
        return _mount(place, "size=1m") == 0
    finally:
        subprocess.run(["umount", str(place)], check=False, capture_output=True)
        place.rmdir()


def _mount(place: Path, options: str) -> int:
    command_line = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    return subprocess.run(command_line, check=False, capture_output=True).returncode


def _on_small_disk(job: Job, whole: Undisturbed, place: Path, room: int) -> tuple[Done, list[str]]:
    """Return what `cut_short` does, on a disk that has so many bytes left when the job begins."""
    disk = place / "disk"
    disk.mkdir(exist_ok=True)
    _mount(disk, f"size={_ROOMY_BYTES}")

    def resize(n_bytes: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={n_bytes}", str(disk)], check=True, capture_output=True)

    def fill() -> None:
        about = os.statvfs(disk)
        resize((about.f_blocks - about.f_bfree) * about.f_frsize + room)

    try:
        return cut_short(job, whole, disk, fill, room_again=lambda: resize(_ROOMY_BYTES))
    finally:
        subprocess.run(["umount", str(disk)], check=True, capture_output=True)


def _limit_files(n_bytes: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, resource.RLIM_INFINITY))


def _bytes(folder: Path) -> int:
    return sum(-(-path.stat().st_size // _PAGE_BYTES) * _PAGE_BYTES for path in folder.rglob("*"))
