"""A statgraph command in a process of its own, and its peak memory: `python -m benchmarks.command_peak COMMAND ...`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from statgraph.memory import peak_memory_mib


@dataclass(frozen=True)
class CommandPeak:
    """What a command took: wall time with Python's start, and the highest resident memory."""

    seconds: float
    peak_mib: int


def peak_of(arguments: Sequence[str], **variables: str) -> CommandPeak:
    """Return what `statgraph ARGUMENTS...` took, with environment variables of its own.

    Raises:
        RuntimeError: if it failed.
    """
    start = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.command_peak", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    seconds = time.perf_counter() - start
    if done.returncode:
        raise RuntimeError(f"statgraph {' '.join(arguments)}: {done.stderr.strip()}; mend it before it is measured")
    return CommandPeak(seconds, json.loads(done.stdout.splitlines()[-1])["peak_mib"])


def _run() -> None:
    from statgraph.cli.main import main

    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print(json.dumps({"peak_mib": peak_memory_mib()}))


if __name__ == "__main__":
    _run()
