"""Wall time and peak memory of each step of a run."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class StepTime:
    """A step's wall time, and the process's highest resident memory by its end."""

    name: str
    seconds: float
    peak_mib: int


class StepClock:
    """Collects the steps of a run in order."""

    def __init__(self):
        self._steps: list[StepTime] = []

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time the block as one step."""
        start = time.perf_counter()
        yield
        self._steps.append(StepTime(name, round(time.perf_counter() - start, 2), peak_memory_mib()))

    def to_list(self) -> list[dict]:
        """Return the steps as JSON values."""
        return [asdict(step) for step in self._steps]


def peak_memory_mib() -> int:
    """Return the highest resident memory of this process so far, in MiB."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) // 1024
    except (OSError, StopIteration):
        # Not on Linux. There the kernel's count would begin with what the process had that started this one.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1024 if sys.platform != "darwin" else 1024 * 1024)
