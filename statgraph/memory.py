"""The memory of this process: its peak, and what glibc (where there is one) keeps of what is freed."""

from __future__ import annotations

import ctypes
import resource
import sys
from contextlib import suppress


def give_back() -> None:
    """Give back to the system what is free: pages between smaller things that are still held, too."""
    with suppress(OSError, TypeError, AttributeError):  # not Linux, or not with glibc
        ctypes.CDLL(None).malloc_trim(0)


def peak_memory_mib() -> int:
    """Return the highest resident memory of this process so far, in MiB."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
    except (OSError, StopIteration):
        # Not on Linux. There the kernel's count would begin with what the process had that started this one.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1024 if sys.platform != "darwin" else 1024 * 1024)
