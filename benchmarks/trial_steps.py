"""The steps of a trial, each in a process of its own: `python -m benchmarks.TRIAL STEP FOLDER JSON`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from statgraph.memory import peak_memory_mib


def run_step(trial: str, step: str, folder: Path, **options: object) -> dict:
    """Return what a step of `benchmarks.TRIAL` printed; it runs in a process of its own, so that its peak memory is its
    own.

    Raises:
        subprocess.CalledProcessError: if the step fails.
    """
    command = [sys.executable, "-m", f"benchmarks.{trial}", step, str(folder), json.dumps(options)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def print_step(steps: Mapping[str, Callable[..., dict]]) -> None:
    """Carry out the step that the command line names; print one JSON object, with the peak memory of the process and
    the load of the machine."""
    step, folder, options = sys.argv[1:]
    printed = steps[step](Path(folder), **json.loads(options))
    print(json.dumps({"peak_mib": peak_memory_mib(), "load": os.getloadavg()[0], **printed}))
