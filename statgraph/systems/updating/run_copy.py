"""A new state of a run folder, whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import RunError


@contextmanager
def changed_run(run: Path, out: Path | None, *, without: Collection[str]) -> Iterator[Path]:
    """Yield a folder with all files of a run but those named, to add the changed ones to; once the block ends without
    an error, it takes the place of the run, or of `out`.

    Until then the run stays as it was. In place the files that stay are linked, not copied; `out` gets copies, and
    leaves out the checkpoints too, which only an unfinished training needs.

    Raises:
        RunError: if `out` is there and not empty.
    """
    if out is not None:
        refuse_full_folder(out)
        without = {*without, artifacts.RUN_CHECKPOINTS}
    target = run.resolve() if out is None else out
    with artifacts.replaced_folder(target) as staging:
        for path in sorted(run.iterdir()):
            if path.name not in without:
                _bring(path, staging / path.name, in_place=out is None)
        yield staging


def refuse_full_folder(out: Path) -> None:
    """Return if a run can be written to a folder: it is not there, or empty.

    Raises:
        RunError: if not.
    """
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file; choose another --out")
    if out.exists() and any(out.iterdir()):
        raise RunError(f"{out}: not empty; choose another --out")


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
