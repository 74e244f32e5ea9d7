"""Giving freed memory back to the system: glibc keeps what lies between smaller things that are still held."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

EVERY_S = 10.0


class FreedMemory:
    """Gives back what is free, at most so often: the pages have to be fetched from the system anew afterwards.

    Without it a process that makes and frees tensors of a few megabytes, and reads small pieces of a file in between,
    grows by gigabytes that it does not use.

    Args:
        every_s: seconds from one time to the next.
        trim: what gives back; glibc's `malloc_trim` where not given, nothing where there is none.
        clock: seconds since whenever.
    """

    def __init__(
        self,
        every_s: float = EVERY_S,
        *,
        trim: Callable[[], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self._every_s = every_s
        self._trim = trim or _malloc_trim
        self._clock = clock
        self._next = clock() + every_s

    def give_back(self) -> None:
        """Give back what is free, where the last time is long enough ago."""
        if (now := self._clock()) >= self._next:
            self._next = now + self._every_s
            self._trim()


def _malloc_trim() -> None:
    try:
        trim = ctypes.CDLL(None).malloc_trim
    except (OSError, TypeError, AttributeError):  # not Linux, or not with glibc
        return
    trim(0)
