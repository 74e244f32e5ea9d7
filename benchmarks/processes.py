"""Work in processes of its own, whose peak memory is its own: statgraph commands, and the steps of a trial.

python -m benchmarks.processes COMMAND ...
python -m benchmarks.TRIAL STEP FOLDER JSON
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from statgraph.memory import peak_memory_mib

LAUNCHER = Path(__file__).parents[1] / "cli.py"


def peak_of(arguments: Sequence[str], **variables: str) -> tuple[float, int]:
    """Return (wall seconds with Python's start, highest resident memory in MiB) of `statgraph ARGUMENTS...`, with
    environment variables of its own."""
    start = time.perf_counter()
    printed = output_of([sys.executable, "-m", "benchmarks.processes", *arguments], **variables)
    return time.perf_counter() - start, json.loads(printed.splitlines()[-1])["peak_mib"]


def run_step(trial: str, step: str, folder: Path, **options: object) -> dict:
    """Return what a step of `benchmarks.TRIAL` printed."""
    command = [sys.executable, "-m", f"benchmarks.{trial}", step, str(folder), json.dumps(options)]
    return json.loads(output_of(command).splitlines()[-1])


def print_step(steps: Mapping[str, Callable[..., dict]]) -> None:
    """Carry out the step that the command line names; print one JSON object, with the peak memory of the process and
    the load of the machine."""
    step, folder, options = sys.argv[1:]
    printed = steps[step](Path(folder), **json.loads(options))
    print(json.dumps({"peak_mib": peak_memory_mib(), "load": os.getloadavg()[0], **printed}))


def output_of(command: Sequence[str], **variables: str) -> str:
    """Return what a command printed.

    Raises:
        RuntimeError: if it failed.
    """
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}; mend it before it is measured")
    return done.stdout


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
