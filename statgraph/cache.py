"""The cache on disk: what takes long to make, kept by its kind and by all that it was made from.

    <cache>/<kind>/<key of the inputs>

Everything in it can be removed at any time, and is made again when it is needed: runs hold the large files that they
share through `files` themselves, under a second name.
"""

from __future__ import annotations

import filecmp
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from statgraph.artifacts import held_folder, key_of, remove_folder, replaced_folder

VARIABLE = "STATGRAPH_CACHE"
# Nothing else in the folder is counted or removed: the variable may name one that holds other things.
KINDS = ("models", "static", "vectors", "adapted", "untrained", "files")
SHARED_BYTES = 2**20  # of a file that is kept once


def cache_root() -> Path:
    """Return the folder of the cache: $STATGRAPH_CACHE, or ~/.cache/statgraph."""
    return Path(os.environ.get(VARIABLE) or Path.home() / ".cache" / "statgraph")


@contextmanager
def cache_in(folder: Path) -> Iterator[None]:
    """Use another folder as the cache while the block runs."""
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def place_of(kind: str, inputs: object) -> Path:
    """Return the folder where what is made from these inputs (JSON values, or a name) belongs, there or not."""
    if kind not in KINDS:
        raise ValueError(f"cache kind '{kind}': choose from {', '.join(KINDS)}")
    return cache_root() / kind / (inputs if isinstance(inputs, str) else key_of(inputs))


def cached(kind: str, inputs: object, make: Callable[[Path], None]) -> Path:
    """Return the folder that `make` filled for these inputs; it is called with an empty folder if there is none yet.

    The folder appears whole or not at all. Of several processes that need the same, one makes it and the others wait.
    """
    place = place_of(kind, inputs)
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with held_folder(place.parent, wait=True):
            if not place.is_dir():
                with replaced_folder(place) as staging:
                    make(staging)
    return place


def share_files(folder: Path) -> None:
    """Keep each large file of a finished folder once on the disk: as a link to the equal file that another folder has
    brought here before, whatever its name. What is on another disk than the cache, or on one without links, stays."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or path.stat().st_size < SHARED_BYTES or is_shared(path):
            continue
        with path.open("rb") as file:
            kept = place_of("files", hashlib.file_digest(file, "sha256").hexdigest())
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path, kept)
            except FileExistsError:
                if filecmp.cmp(path, kept, shallow=False):  # it may be damaged
                    linked = path.with_name(f".{path.name}-{kept.name[:8]}")
                    os.link(kept, linked)
                    os.replace(linked, path)


def is_shared(path: Path) -> bool:
    """Return whether a file has other names on its disk, so that removing this one frees nothing."""
    return path.lstat().st_nlink > 1


def remove_unshared() -> None:
    """Remove the files that no run and no other entry of the cache has any more."""
    for path in _children(cache_root() / "files"):
        with suppress(OSError):  # another process removes it too
            if not is_shared(path):
                path.unlink()


@dataclass(frozen=True)
class CacheUsage:
    """What a kind of cached things takes: its number of entries and their bytes on disk."""

    kind: str
    entries: int
    n_bytes: int


def cache_usage() -> list[CacheUsage]:
    """Return what each kind takes, the largest first."""
    kinds = [cache_root() / kind for kind in KINDS if (cache_root() / kind).is_dir()]
    usage = [CacheUsage(kind.name, len(_children(kind)), _bytes_in(kind)) for kind in kinds]
    return sorted(usage, key=lambda used: -used.n_bytes)


def shared_inodes() -> set[int]:
    """Return the inodes of the files that are kept here for runs to share."""
    return {path.lstat().st_ino for path in _children(cache_root() / "files")}


def clear_cache(kind: str = "") -> int:
    """Remove one kind of cached things, or all; return how many bytes that freed: what runs have too stays theirs."""
    freed = 0
    for known in KINDS:
        folder = cache_root() / known
        if folder.is_dir() and kind in ("", known):
            freed += _bytes_in(folder, alone=True)
            remove_folder(folder)
    return freed


def _children(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if not path.name.startswith(".")) if folder.is_dir() else []


def _bytes_in(folder: Path, *, alone: bool = False) -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.lstat().st_size for path in files if not (alone and is_shared(path)))
