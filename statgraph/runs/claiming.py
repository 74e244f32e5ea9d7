"""Claiming a folder for a run's training: an empty one, or an unfinished run that goes on with settings that fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.disk import held_folder, refused_write_named
from statgraph.errors import RunError
from statgraph.runs.folders import is_unfinished, newest_of_its_name, refuse_full_folder
from statgraph.settings import changed_settings


@contextmanager
def claimed(folder: Path, corpus: Corpus, config: RunConfig, *, resume: bool) -> Iterator[None]:
    """Claim a folder as `claim` does, and hold it until the block ends: nobody else trains there meanwhile.

    A disk that fills up meanwhile is named after the folder.

    Raises:
        RunError: also if another process holds the folder.
    """
    holding = nullcontext(True) if folder.exists() and not folder.is_dir() else held_folder(folder)
    with holding as is_free, refused_write_named(folder):
        if not is_free:
            raise RunError(
                f"{folder}: another process is training it; wait until it has ended, or train into another folder"
            )
        artifacts.remove_abandoned_under(folder)
        claim(folder, corpus, config, resume=resume)
        yield


def claim(folder: Path, corpus: Corpus, config: RunConfig, *, resume: bool) -> None:
    """Write into a folder what is to be trained there, before any work.

    Raises:
        RunError: if the folder is in use; with `resume`, if it was started on another corpus, or with other values of
            settings that its saved work has used.
    """
    path = folder / artifacts.RUN_CONFIG
    wanted = artifacts.as_json({"config": config.to_dict(), "corpus_hash": corpus.content_hash})
    if not resume:
        resumable = is_unfinished(folder)
        refuse_full_folder(folder, "add --resume to go on with it, or choose another --out" if resumable else None)
        folder.mkdir(parents=True, exist_ok=True)
        artifacts.write_json(path, wanted)
        newest_of_its_name(path)
        return
    if not path.is_file():
        raise RunError(f"{folder}: no run to resume; start it without --resume")
    begun = _begun(path)
    if begun["corpus_hash"] != wanted["corpus_hash"]:
        raise RunError(
            f"{folder}: was started on another corpus, or another state of this one; name that one with --corpus, "
            "or train into another folder"
        )
    changed = changed_settings(begun["config"], wanted["config"], which=_used_settings(folder, begun["config"]))
    if changed:
        raise RunError(
            f"{folder}: was started with other settings ({changed}); resume it with the same ones, "
            "or train into another folder"
        )
    if begun != wanted:
        artifacts.write_json(path, wanted)


def give_back(folder: Path) -> None:
    """Leave a claimed folder as empty as it was, unless it holds work that can be resumed."""
    if any((folder / name).exists() for name in (artifacts.RUN_CHECKPOINTS, artifacts.RUN_MEMBERS)):
        return
    if _has_synthetic(folder):
        return
    for name in (artifacts.RUN_CONFIG, *artifacts.RUN_ARTICLES, artifacts.RUN_METRICS):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def _used_settings(folder: Path, config: Mapping[str, Any]) -> Callable[[str], bool]:
    """Return a function that tells by a setting's name whether the work that an unfinished run has saved depends on it.

    A stage uses its settings from its first checkpoint on, and those of the stages before it.
    """
    stage2 = (folder / artifacts.RUN_CHECKPOINTS / "stage2").exists()
    stage1 = stage2 or (folder / artifacts.RUN_CHECKPOINTS / "stage1").exists()
    synthetic, student = _has_synthetic(folder), (folder / artifacts.RUN_LESSONS).exists()
    begun = [config.get(stage, {}) for stage, has_begun in (("stage1", stage1), ("stage2", stage2)) if has_begun]
    negatives = any(settings.get("negatives", "none") != "none" for settings in begun)
    by_group = {
        "encoder": stage1 or student,
        "pretrain": stage1 and config.get("encoder", {}).get("adapted", False),
        "augment": synthetic or any(settings.get("synthetic", 0) > 0 for settings in begun),
        "bm25.expansion": synthetic,
        "bm25": negatives,
        "negatives": negatives,
        "stage1": stage1,
        "graph": stage2,
        "gnn": stage2,
        "stage2": stage2,
        "student": student,
    }
    return lambda name: by_group.get(name, by_group.get(name.partition(".")[0], stage1 or synthetic or student))


def _has_synthetic(folder: Path) -> bool:
    """Return whether a folder holds synthetic questions, all or the first."""
    synthetic = folder / artifacts.RUN_SYNTHETIC
    return synthetic.exists() or artifacts.partial_beside(synthetic).exists()


def _begun(path: Path) -> dict:
    """Return what a run was begun with; raise RunError if the file is damaged."""
    try:
        begun = artifacts.read_json(path)
        if isinstance(begun["config"], dict) and isinstance(begun["corpus_hash"], str):
            return begun
    except (ValueError, KeyError, TypeError):
        pass  # no JSON, or another's: as damaged as one whose values are of other kinds
    raise RunError(f"{path}: damaged; train into another folder")
