"""The runs of a working directory with what sets them apart, and the removal of one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from statgraph import artifacts
from statgraph.cache import remove_unshared, shared_inodes
from statgraph.errors import RunError
from statgraph.evaluation.metrics import QUALITY
from statgraph.runs import parts
from statgraph.runs.folders import RUNS, held_run, is_served
from statgraph.runs.run import RunFolder
from statgraph.systems.model_card import read_run_report


@dataclass(frozen=True)
class RunFacts:
    """What a list says of a run.

    Attributes:
        name: of its folder.
        articles: of its corpus, None where the run does not say.
        questions: that it was trained on, None where the run does not say.
        finished: when its training or its last update ended, local time in ISO format.
        updates: how many there were since it was trained.
        quality: on dev, from 0 to 100; None where nothing was measured since.
        own_bytes: on the disk, of the files that it alone has: what removing it frees.
        shared_bytes: of those that other runs or the cache have too.
    """

    name: str
    corpus: str
    language: str
    articles: int | None
    questions: int | None
    system: str
    finished: str
    updates: int
    quality: float | None
    own_bytes: int
    shared_bytes: int

    @classmethod
    def of(cls, folder: Path) -> RunFacts:
        """Return the facts of the finished run in a folder; RunError if there is none, or it is damaged."""
        run, report = RunFolder.read(folder), read_run_report(folder)
        quality = None if report is None else report.metrics.get(QUALITY)
        finished = datetime.fromtimestamp((folder / parts.MANIFEST).stat().st_mtime)
        kept = shared_inodes()  # a file's name there goes with the last run that has it
        files = [path.lstat() for path in folder.rglob("*") if not path.is_dir()]
        sizes = [(file.st_nlink - (file.st_ino in kept) > 1, file.st_size) for file in files]
        return cls(
            name=folder.name,
            corpus=run.corpus.name,
            language=run.corpus.language,
            articles=run.corpus.articles,
            questions=counted["train"] if isinstance(counted := run.data.get("questions"), Mapping) else None,
            system=run.config.system,
            finished=finished.isoformat(" ", timespec="minutes"),
            updates=len(run.updates),
            quality=None if quality is None else round(100 * quality, 1),
            own_bytes=sum(size for shared, size in sizes if not shared),
            shared_bytes=sum(size for shared, size in sizes if shared),
        )


def listed_runs(runs: Path = RUNS) -> Iterator[RunFacts | RunError]:
    """Yield the facts of each run under a folder, the newest first; of one that is unfinished or damaged, why it has
    none."""
    changed: dict[Path, float] = {}
    for part in (parts.MANIFEST, parts.CONFIG):
        for path in runs.glob(f"[!.]*/{part.name}"):
            changed[path.parent] = max(path.stat().st_mtime, changed.get(path.parent, 0.0))
    for folder in sorted(changed, key=changed.__getitem__, reverse=True):
        try:
            yield RunFacts.of(folder)
        except RunError as error:
            yield error


def named_run(name: str, runs: Path = RUNS) -> Path:
    """Return the folder of a run by its name under `runs`, or by its path."""
    return runs / name if (runs / name).is_dir() else Path(name)


def remove_run(folder: Path) -> None:
    """Remove a run, finished or not, and the files in the cache that it alone has shared.

    Raises:
        RunError: if the folder is no run, or a link to one, or another process changes or serves it.
    """
    if folder.is_symlink():
        raise RunError(f"{folder}: a link to {folder.resolve()}; name that run, or remove the link alone with rm")
    if not (folder / parts.CONFIG).is_file():
        RunFolder.read(folder)
    with held_run(folder):
        if is_served(folder):
            raise RunError(f"{folder}: 'statgraph serve' answers from it; stop that first")
        artifacts.remove_folder(folder)
    remove_unshared()
