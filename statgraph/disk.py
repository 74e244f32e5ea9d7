"""What a disk refuses, locks and exchanges: the ground under everything that is written."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from statgraph.errors import StatgraphError

_REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)
_NO_ROOM_BYTES = 1 << 20
_LATER_NS = 10**9  # some disks keep whole seconds
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux


@contextmanager
def refused_write_named(place: Path) -> Iterator[None]:
    """Raise an OSError with the place where the block fails because the disk there refuses to be written.

    NumPy, safetensors, DGL, FAISS and LightGBM each raise another error, most of them without its number, none with
    the place.
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


def require_room(place: Path) -> None:
    """Raise OSError if the disk of a place is full: NumPy, DGL and FAISS lose the last bytes of a file without any."""
    if _is_full(place):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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


@contextmanager
def held_folder(folder: Path, *, wait: bool = False) -> Iterator[bool]:
    """Hold the kernel's lock of a folder, and yield whether no other process does (with `wait`, once none does); a
    folder that is not there is made, and removed again if it is left empty.

    The lock leaves no file, and ends with its process, however that ends. On a disk without such locks nobody holds
    any.
    """
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


def exchanged(first: Path, second: Path) -> bool:
    """Return whether two names have been exchanged in one step, which Linux can on most of its disks."""
    rename = getattr(ctypes.CDLL(None), "renameat2", None)
    here = -100  # AT_FDCWD
    return rename is not None and not rename(here, os.fsencode(first), here, os.fsencode(second), _EXCHANGE)
