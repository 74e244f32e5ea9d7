"""What the toolkit saves: under which names, whole or not at all, by one process at a time.

Locks are the kernel's (`flock`) on the folder or file itself: they end with their process, however that ends, and leave
no file in a user's folders, which a library's lock files would. On a disk without such locks nobody holds any.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import glob
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statgraph.errors import RETRAIN, RunError, StatgraphError, described, marked, reason_of

if TYPE_CHECKING:
    import numpy as np
    import torch

MANIFEST = "manifest.json"
MODEL_CARD = "README.md"

CORPUS_ARTICLES = "corpus.jsonl"
CORPUS_QUESTIONS = "queries.jsonl"
CORPUS_LABELS = "qrels"
CORPUS_CITING = "citing.jsonl"
SYNONYMS = "synonyms.txt"  # of a corpus and of its runs

GRAPH_FILE = "graph.dgl"
GRAPH_NODES = "nodes.json"

_REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_NO_ROOM_BYTES = 1 << 20
_LATER_NS = 10**9  # some disks keep whole seconds
# What a killed process left half-written is removed by the next that writes the same: its lock went with it. On a disk
# without locks it stays, a hidden file or folder.
_MARK_BYTES = 4
_MARK = "[0-9a-f]" * 2 * _MARK_BYTES
_RETIRED = ".old"


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Yield an empty folder that replaces `target` once the block ends without an error.

    Until then `target` stays as it was; after an error or a kill nothing half-written takes its place. A kill between
    the two renames of the end leaves the old folder whole beside it (`retired`).
    """
    with _staging(Path(target), Path.mkdir) as staging:
        yield staging


@contextmanager
def replaced_file(target: Path) -> Iterator[Path]:
    """Yield an empty file beside `target` to write to; it replaces `target` once the block ends without an error."""
    with _staging(Path(target), Path.touch) as staging:
        yield staging


@contextmanager
def _staging(target: Path, make: Callable[[Path], None]) -> Iterator[Path]:
    """Yield a new folder or file beside `target`, locked by this process, that replaces it once the block ends without
    an error; what is left of it then, and what killed processes have left, is removed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    remove_abandoned(target)
    with refused_write_named(target):
        staging, descriptor = _new_and_locked(target, make)
        try:
            yield staging
            if _is_full(target):  # NumPy, DGL and FAISS lose the last bytes of a file without an error
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            _give_mode(staging, os.fstat(descriptor).st_mode)
            if not staging.is_dir():
                os.replace(staging, target)
                return
            old = staging.with_name(f"{staging.name}{_RETIRED}")
            if os.path.lexists(target):
                os.rename(target, old)
            os.rename(staging, target)
            _remove(old)
        finally:
            _remove(staging)
            os.close(descriptor)


def _new_and_locked(target: Path, make: Callable[[Path], None]) -> tuple[Path, int]:
    """Return a new folder or file beside `target` and the descriptor that holds its lock."""
    while True:
        staging = _beside(target)
        make(staging)
        with suppress(FileNotFoundError):  # until it is locked, another process may take it for abandoned
            descriptor = os.open(staging, os.O_RDONLY)
            locked(descriptor, wait=True)
            if staging.exists():
                return staging, descriptor
            os.close(descriptor)


def _give_mode(staging: Path, mode: int) -> None:
    """Give weights, which safetensors writes for their owner alone, what the umask leaves; files linked elsewhere keep
    theirs."""
    for path in staging.rglob("*.safetensors") if staging.is_dir() else [staging]:
        if not path.is_symlink() and path.stat().st_nlink == 1:
            path.chmod(mode & 0o666)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _beside(target: Path) -> Path:
    """Return a hidden name beside `target` that nothing has yet."""
    return target.with_name(f".{target.name}-{secrets.token_hex(_MARK_BYTES)}")


def retired(target: Path) -> Path | None:
    """Return the old folder, whole, that a killed process has left in the moment of replacing `target`; None where
    there is none."""
    return next(target.parent.glob(f".{glob.escape(target.name)}-{_MARK}{_RETIRED}"), None)


def remove_abandoned(target: Path) -> None:
    """Remove what killed processes have left beside `target`: what is half-written, and where `target` is there, the
    old folder that it replaced. Without it the old one, whole, is left to its owner."""
    _remove_unlocked(target.parent.glob(f".{glob.escape(target.name)}-{_MARK}"))
    if target.exists():
        _remove_unlocked(target.parent.glob(f".{glob.escape(target.name)}-{_MARK}{_RETIRED}"))


def remove_abandoned_under(folder: Path) -> None:
    """Remove what killed processes have left half-written anywhere in a folder that is locked."""
    _remove_unlocked(folder.rglob(f".*-{_MARK}"))


def _remove_unlocked(paths: Iterable[Path]) -> None:
    for path in list(paths):
        with suppress(OSError):  # another process removes it too
            descriptor = os.open(path, os.O_RDONLY)
            try:
                if locked(descriptor):
                    _remove(path)
            finally:
                os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove a folder at once: a kill leaves it whole, or out of the way, for the next that removes or writes it."""
    remove_abandoned(folder)
    aside = _beside(folder)
    with suppress(OSError):
        os.rename(folder, aside)
        _remove(aside)


@contextmanager
def held_folder(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Lock a folder while the block runs, and yield whether no other process had (with `wait`, once none has); a folder
    that is not there is made, and removed again if it is left empty."""
    folder = Path(folder)
    made = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield locked(descriptor, wait=wait) is not False
    finally:
        if made:
            with suppress(OSError):
                folder.rmdir()
        os.close(descriptor)


def locked(descriptor: int, *, wait: bool = False, shared: bool = False) -> bool | None:
    """Return whether the lock of an open file was free and is now ours, or with `shared` ours and others' of the same
    kind; None where the disk has no locks."""
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def stamp_newest(path: Path, others: Iterable[Path]) -> None:
    """Give a file or folder a later time of change than the others have, whatever the clock said when they were
    written: it may have been put back since."""
    with suppress(FileNotFoundError):  # another process removes one
        newest = max(
            (other.stat().st_mtime_ns for other in others if other != path and other.exists()),
            default=-1,
        )
        if path.stat().st_mtime_ns <= newest:
            os.utime(path, ns=(newest + _LATER_NS,) * 2)


@contextmanager
def refused_write_named(place: Path) -> Iterator[None]:
    """Raise an OSError with the place where the block fails because the disk there refuses to be written.

    NumPy, safetensors, DGL and FAISS each raise another error, most of them without its number, none with the place.
    """
    try:
        yield
    except StatgraphError:
        raise
    except Exception as error:
        code = None if getattr(error, "filename", None) is not None else _refusal(error, place)
        if code is None:
            raise
        raise OSError(code, os.strerror(code), str(place)) from error


def _refusal(error: Exception, place: Path) -> int | None:
    """Return the number of the disk's refusal that an error stems from, None where it is another's."""
    code = getattr(error, "errno", None)
    if code is not None:
        return code if code in _REFUSALS else None
    named = (known for known in _REFUSALS if os.strerror(known) in str(error))
    return next(named, errno.ENOSPC if _is_full(place) else None)


def _is_full(place: Path) -> bool:
    there = next((path for path in (place, *place.absolute().parents) if path.exists()), Path())
    return shutil.disk_usage(there).free < _NO_ROOM_BYTES


def partial_beside(path: Path) -> Path:
    """Return where the finished parts of a file to come are kept."""
    return path.with_name(f"{path.name}.partial")


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, whole or not at all."""
    with replaced_file(path) as staging:
        staging.write_text(text, encoding="utf-8")


def write_json(path: Path, value: object) -> None:
    """Write one JSON value, indented, as `write_text` does."""
    write_text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def write_json_lines(path: Path, values: Iterable[object]) -> None:
    """Write JSON values, one a line; whole or not at all only in a file or folder that is."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(value, ensure_ascii=False) + "\n" for value in values)


def as_json(value: object) -> Any:
    """Return what a value becomes in JSON and back: tuples as lists, keys as strings."""
    return json.loads(json.dumps(value))


def key_of(value: object, digits: int = 24) -> str:
    """Return the first hex digits of the SHA-256 of JSON values: a name for what is decided by them."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode("utf-8")).hexdigest()[:digits]


@contextmanager
def reading(path: Path | str, remedy: str = RETRAIN) -> Iterator[None]:
    """Raise a RunError of one line, with the remedy, where the block cannot read what a file should hold.

    Any error counts as damage: those who parse a file raise what comes their way, down to a MemoryError for the size
    that a damaged header claims. So the block reads, checks and converts, and does nothing else.
    """
    try:
        yield
    except RunError as error:
        if str(error).startswith(str(path)):
            raise
        raise RunError(f"{path}: {marked(error)}") from error
    except Exception as error:
        reason = reason_of(error) if isinstance(error, OSError | ValueError) else described(error)
        raise RunError(f"{path}: not readable ({reason}); {remedy}") from error


@contextmanager
def array_damage_as_value_error() -> Iterator[None]:
    """Raise a ValueError where the block meets a damaged .npy or .npz file, whatever NumPy raises."""
    try:
        yield
    except (OSError, ValueError):
        raise
    except Exception as error:
        raise ValueError(described(error)) from error


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file."""
    value: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
    return value


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the rows of a tab-separated table of the package, by the names in its first line."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_object(path: Path, *, remedy: str = RETRAIN) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        RunError: if the file is missing or damaged, or holds something else.
    """
    with reading(path, remedy):
        value = read_json(path)
    if not isinstance(value, dict):
        raise RunError(f"{path}: not a JSON object; {remedy}")
    return value


def read_array(
    path: Path, shape: tuple[int, ...], dtype: str, *, remedy: str = RETRAIN, mapped: bool = False
) -> np.ndarray:
    """Return the array in a .npy file, memory-mapped if asked for.

    Raises:
        RunError: if the file is missing or damaged, or holds another shape or type.
    """
    import numpy as np

    with reading(path, remedy):  # an archive of arrays has no shape, and of nothing there is no map
        array: np.ndarray = np.load(path, mmap_mode="r" if mapped and shape[0] else None, allow_pickle=False)
        held = f"{array.dtype} of shape {array.shape}"
    wanted = f"{dtype} of shape {shape}"
    if held != wanted:
        raise RunError(f"{path}: {held} where {wanted} was written; {remedy}")
    return array


def write_tensors(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write tensors of any device by name, as safetensors."""
    from safetensors.torch import save_file

    save_file({name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}, path)


def read_tensors(path: Path, *, remedy: str = RETRAIN) -> dict[str, torch.Tensor]:
    """Return the tensors in a safetensors file, on the CPU.

    Raises:
        RunError: if the file is missing or damaged.
    """
    from safetensors.torch import load_file

    with reading(path, remedy):
        return load_file(path)
