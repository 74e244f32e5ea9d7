"""The run folders of a working directory: their names, the claim to one for a training, and its replacement by its next
state."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from datetime import datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.cache import SHARED_BYTES
from statgraph.config import RunConfig
from statgraph.errors import RunError, option
from statgraph.law.records import Corpus
from statgraph.runs import parts
from statgraph.runs.kind import kind_of
from statgraph.settings import changed_settings

RUNS = Path("runs")


def newest_run(runs: Path = RUNS, *, remedy: str | None = None) -> Path:
    """Return the run that was finished last; `remedy` is that where there is none; RunError if there is none."""
    newest = max(runs.glob(f"*/{artifacts.MANIFEST}"), key=_age, default=None)
    if newest is None:
        remedy = remedy or f"train one with 'statgraph train', or name one with {option('run')}"
        raise RunError(f"{runs}: holds no finished run; {remedy}")
    return newest.parent


def newest_unfinished_run(runs: Path = RUNS) -> Path:
    """Return the run that was begun last and is not finished; RunError if there is none."""
    begun = (path for path in runs.glob(f"*/{parts.CONFIG.name}") if is_unfinished(path.parent))
    newest = max(begun, key=_age, default=None)
    if newest is None:
        raise RunError(
            f"{runs}: holds no unfinished run; start one with 'statgraph train', or name one with {option('out')}"
        )
    return newest.parent


def newest_of_its_name(path: Path) -> None:
    """Make a run's file newer than the same file of every run beside it, whatever the clock says."""
    artifacts.stamp_newest(path, path.parent.parent.glob(f"*/{path.name}"))


def is_finished(folder: Path) -> bool:
    """Return whether a folder holds a finished run."""
    return (folder / artifacts.MANIFEST).is_file()


def is_unfinished(folder: Path) -> bool:
    """Return whether a folder holds a run that can be resumed."""
    return (folder / parts.CONFIG).is_file() and not is_finished(folder)


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
    with artifacts.held_folder(folder) as is_free:
        if not is_free:
            raise RunError(f"{folder}: another process changes it; wait until it has ended")
        yield


@contextmanager
def served_run(run: Path) -> Iterator[None]:
    """Mark a run as served until the block ends or the process does: nobody removes it meanwhile. An update in place
    keeps the mark."""
    path = run / parts.CONFIG
    with path.open() if path.is_file() else nullcontext() as file:
        if file is not None:
            artifacts.locked(file.fileno(), shared=True)
        yield


def is_served(run: Path) -> bool:
    """Return whether a process serves a run."""
    with suppress(FileNotFoundError), (run / parts.CONFIG).open() as file:
        return artifacts.locked(file.fileno()) is False
    return False


@contextmanager
def changed_run(run: Path, out: Path | None, *, without: Collection[str]) -> Iterator[Path]:
    """Yield a folder with all files of a run but those named, to add the changed ones to; once the block ends without
    an error, it replaces the run, or `out`.

    Until then the run stays as it was. In place the files that stay are linked, not copied; `out` gets links to the
    large ones and copies of the others, and leaves out the checkpoints too, which only an unfinished training needs.

    Raises:
        RunError: if `out` is there and not empty, or another process changes the same folder.
    """
    if out is not None:
        refuse_full_folder(out)
        without = {*without, parts.CHECKPOINTS.name}
    target = run.resolve() if out is None else out
    with held_run(target), artifacts.replaced_folder(target) as staging:
        _bring(run, staging, without, in_place=out is None)
        yield staging


def link_run(run: Path, target: Path) -> None:
    """Make a folder the same run as another, its files linked where the disk has links, else copied; what stood there
    is replaced. Checkpoints are left out, which only an unfinished training needs."""
    with artifacts.replaced_folder(target) as staging:
        _bring(run, staging, {parts.CHECKPOINTS.name}, in_place=True)


@contextmanager
def claimed(folder: Path, corpus: Corpus, config: RunConfig, *, resume: bool) -> Iterator[None]:
    """Claim a folder as `claim` does, and hold it until the block ends: nobody else trains there meanwhile.

    A disk that fills up meanwhile is named after the folder.

    Raises:
        RunError: also if another process holds the folder.
    """
    holding = nullcontext(True) if folder.exists() and not folder.is_dir() else artifacts.held_folder(folder)
    with holding as is_free, artifacts.refused_write_named(folder):
        if not is_free:
            raise RunError(
                f"{folder}: another process is training it; wait until it has ended, or train into another folder"
            )
        artifacts.remove_abandoned_under(folder)
        claim(folder, corpus, config, resume=resume)
        yield


def claim(folder: Path, corpus: Corpus, config: RunConfig, *, resume: bool) -> None:
    """Write the configuration and the corpus of a training into its folder, before any work.

    Raises:
        RunError: if the folder is in use; with `resume`, if it was started on another corpus, or with other values of
            settings that its saved work has used.
    """
    path = folder / parts.CONFIG
    wanted = artifacts.as_json({"config": config.to_dict(), "corpus_hash": corpus.content_hash})
    if not resume:
        resumable = is_unfinished(folder)
        remedy = f"add {option('resume')} to go on with it, or choose another {option('out')}"
        refuse_full_folder(folder, remedy if resumable else None)
        folder.mkdir(parents=True, exist_ok=True)
        artifacts.write_json(path, wanted)
        newest_of_its_name(path)
        return
    if not path.is_file():
        raise RunError(f"{folder}: no run to resume; start it without {option('resume')}")
    with artifacts.reading(path, "train into another folder"):
        begun = artifacts.read_json(path)
        if not isinstance(begun["config"], dict) or not isinstance(begun["corpus_hash"], str):
            raise ValueError("not the configuration of a run")
    if begun["corpus_hash"] != wanted["corpus_hash"]:
        raise RunError(
            f"{folder}: was started on another corpus, or another state of this one; name that one "
            f"with {option('corpus')}, or train into another folder"
        )
    saved = [part for part in kind_of(config).parts if part.uses and part.is_in(folder)]
    used = {name for part in saved for name in part.settings(begun["config"])}

    def matters(name: str) -> bool:
        """Return whether the saved work depends on a setting; what decides all work, such as the seed, has no group."""
        return bool(saved) and ("." not in name or not used.isdisjoint((name, name.partition(".")[0])))

    if changed := changed_settings(begun["config"], wanted["config"], which=matters):
        raise RunError(
            f"{folder}: was started with other settings ({changed}); resume it with the same ones, "
            "or train into another folder"
        )
    if begun != wanted:
        artifacts.write_json(path, wanted)


def unclaim(folder: Path, config: RunConfig) -> None:
    """Leave a claimed folder as empty as it was, unless it holds work that can be resumed."""
    kind_parts = kind_of(config).parts
    if any(part.is_work and part.is_in(folder) for part in kind_parts):
        return
    for part in kind_parts:
        if (folder / part).is_dir():
            artifacts.remove_folder(folder / part)
        else:
            (folder / part).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def refuse_full_folder(out: Path, remedy: str | None = None) -> None:
    """Raise RunError unless a folder is empty or not there yet; `remedy` is that for a full one."""
    if out.exists() and not out.is_dir():
        raise RunError(f"{out}: is a file; choose another {option('out')}")
    if out.exists() and any(out.iterdir()):
        remedy = remedy or f"choose another {option('out')}"
        raise RunError(f"{out}: not empty; {remedy}")


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, str(path)


def _bring(run: Path, target: Path, without: Collection[str], *, in_place: bool) -> None:
    """Copy a run into a folder but for some of its parts: in place as links, elsewhere only its large files are linked.
    The folder keeps its own mode, since the run's may be read-only."""
    mode = target.stat().st_mode
    shutil.copytree(
        run,
        target,
        symlinks=in_place,
        copy_function=link_file if in_place else _link_large_file,
        ignore=lambda folder, names: set(without).intersection(names) if Path(folder) == run else (),
        dirs_exist_ok=True,
    )
    target.chmod(mode)


def _link_large_file(source: str, target: str) -> None:
    """Link a large file, since these are replaced and never changed; copy others, and JSON lines, which grow."""
    large = Path(source).suffix != ".jsonl" and os.stat(source).st_size >= SHARED_BYTES
    (link_file if large else shutil.copy2)(Path(source).resolve(), Path(target))


def link_file(source: Path | str, target: Path | str) -> None:
    """Link a file, or copy it where the disk has no links."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)
