"""The run folders of a working directory."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError

RUNS = Path("runs")


def newest_run(runs: Path = RUNS) -> Path:
    """Return the run that was finished last.

    Raises:
        RunError: if there is none.
    """
    finished = sorted(runs.glob(f"*/{artifacts.MANIFEST}"), key=_age)
    if not finished:
        raise RunError(f"{runs}: holds no finished run; train one with 'statgraph train', or name one with --run")
    return finished[-1].parent


def newest_unfinished_run(runs: Path = RUNS) -> Path:
    """Return the run that was begun last and is not finished.

    Raises:
        RunError: if there is none.
    """
    begun = sorted(runs.glob(f"*/{artifacts.RUN_CONFIG}"), key=_age)
    open_runs = [path.parent for path in begun if not (path.parent / artifacts.MANIFEST).is_file()]
    if not open_runs:
        raise RunError(f"{runs}: holds no unfinished run; start one with 'statgraph train', or name one with --out")
    return open_runs[-1]


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


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, str(path)
