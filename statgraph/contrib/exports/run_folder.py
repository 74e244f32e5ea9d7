"""A run as a folder that serves on another machine: every file a copy, without what only training and updating read."""

from __future__ import annotations

import shutil
from pathlib import Path

from statgraph import artifacts
from statgraph.contrib.exports.hub_repository import published_files
from statgraph.contrib.exports.source_and_target import refuse_existing


def export_run_folder(run: Path, out: Path) -> int:
    """Copy the files of a run that answer and explain questions, and return their size in bytes.

    Raises:
        RunError: if it is not a finished run.
        UsageError: if `out` is there already.
    """
    refuse_existing(out)
    files = {path.relative_to(run): path for path in published_files(run)}
    with artifacts.replaced_folder(out) as folder:
        for place, path in files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, folder / place)
    return sum(path.stat().st_size for path in files.values())
