"""The run folders of a working directory, and the replacement of one by its next state."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.disk import held_folder, stamp_newest
from statgraph.errors import RunError

RUNS = Path("runs")


def newest_run(runs: Path = RUNS, *, remedy: str | None = None) -> Path:
    """Return the run that was finished last; `remedy` is that where there is none.

    Raises:
        RunError: if there is none.
    """
    finished = sorted(runs.glob(f"*/{artifacts.MANIFEST}"), key=_age)
    if not finished:
        remedy = remedy or "train one with 'statgraph train', or name one with --run"
        raise RunError(f"{runs}: holds no finished run; {remedy}")
    return finished[-1].parent


def newest_unfinished_run(runs: Path = RUNS) -> Path:
    """Return the run that was begun last and is not finished.

    Raises:
        RunError: if there is none.
    """
    begun = sorted(runs.glob(f"*/{artifacts.RUN_CONFIG}"), key=_age)
    open_runs = [path.parent for path in begun if is_unfinished(path.parent)]
    if not open_runs:
        raise RunError(f"{runs}: holds no unfinished run; start one with 'statgraph train', or name one with --out")
    return open_runs[-1]


def newest_of_its_name(path: Path) -> None:
    """Make a run's file newer than the same file of every run beside it, whatever the clock says."""
    stamp_newest(path, path.parent.parent.glob(f"*/{path.name}"))


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a finished run."""
    return (folder / artifacts.MANIFEST).is_file()


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder holds a run that can be resumed."""
    return (folder / artifacts.RUN_CONFIG).is_file() and not is_finished(folder)


def new_run_folder(corpus_name: str, system: str, runs: Path = RUNS) -> Path:
    """Return a folder name that is not in use, made of the time, the corpus and the system."""
    stem = f"{datetime.now():%Y%m%d-%H%M%S}-{folder_name(corpus_name)}-{system}"
    folder, copy = runs / stem, 2
    while folder.exists():
        folder, copy = runs / f"{stem}-{copy}", copy + 1
    return folder


def folder_name(corpus_name: str) -> str:
    """Return a corpus's name as that of one folder: a slash would make two folders of it, and ".." leave the place."""
    return re.sub(r"[^\w.-]+", "-", corpus_name).strip("-.")[:60] or "corpus"


@contextmanager
def held_run(run: Path) -> Iterator[None]:
    """Hold a run's folder until the block ends: nobody else trains, updates or rebuilds it meanwhile.

    Raises:
        RunError: if another process holds it.
    """
    folder = run.resolve()
    with held_folder(folder) as is_free:
        if not is_free:
            raise RunError(f"{folder}: another process changes it; wait until it has ended")
        yield


@contextmanager
def changed_run(run: Path, out: Path | None, *, without: Collection[str]) -> Iterator[Path]:
    """Yield a folder with all files of a run but those named, to add the changed ones to; once the block ends without
    an error, it takes the place of the run, or of `out`.

    Until then the run stays as it was. In place the files that stay are linked, not copied; `out` gets copies, and
    leaves out the checkpoints too, which only an unfinished training needs.

    Raises:
        RunError: if `out` is there and not empty, or another process changes the same folder.
    """
    if out is not None:
        refuse_full_folder(out)
        without = {*without, artifacts.RUN_CHECKPOINTS}
    target = run.resolve() if out is None else out
    with held_run(target), artifacts.replaced_folder(target) as staging:
        for path in sorted(run.iterdir()):
            if path.name not in without:
                _bring(path, staging / path.name, in_place=out is None)
        yield staging


def link_run(run: Path, target: Path) -> None:
    """Make a folder the same run as another, its files linked where the disk has links, else copied; what stood there
    is replaced. Checkpoints are left out, which only an unfinished training needs."""
    with artifacts.replaced_folder(target) as staging:
        for path in sorted(run.iterdir()):
            if path.name != artifacts.RUN_CHECKPOINTS:
                _bring(path, staging / path.name, in_place=True)


def refuse_full_folder(out: Path, remedy: str | None = None) -> None:
    """Raise RunError unless a folder is empty or not there yet; `remedy` is that for a full one."""
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file; choose another --out")
    if out.exists() and any(out.iterdir()):
        raise RunError(f"{out}: not empty; {remedy or 'choose another --out'}")


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, str(path)


def _bring(source: Path, target: Path, *, in_place: bool) -> None:
    copy = _link if in_place else shutil.copy2
    if source.is_dir() and not (in_place and source.is_symlink()):
        shutil.copytree(source, target, symlinks=in_place, copy_function=copy)
    else:
        copy(source, target)


def _link(source: Path, target: Path) -> None:
    """Link a file, or copy it where the disk has no links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
