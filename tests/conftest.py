"""For all tests: no model hub, a cache of the checkout's own, and the command line in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

REPO = Path(__file__).parents[1]
COMMAND_TIMEOUT_S = 300

# The hub's client reads these once, when it is imported: before any test module is.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"


class CommandResult(NamedTuple):
    """What a run of the command line leaves."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture(scope="session", autouse=True)
def statgraph_cache(request: pytest.FixtureRequest) -> Iterator[Path]:
    """Point STATGRAPH_CACHE at `.pytest_cache/d/statgraph`, and yield that folder.

    It outlives the session, since unpacking the embedded encoder takes seconds; `pytest --cache-clear` empties it. The
    user's own cache is neither read nor filled, and a STATGRAPH_CACHE that is set already is left as it is.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not os.environ.get("STATGRAPH_CACHE"):
            patch.setenv("STATGRAPH_CACHE", str(request.config.cache.mkdir("statgraph")))
        yield Path(os.environ["STATGRAPH_CACHE"])


@pytest.fixture
def run_cli(tmp_path: Path) -> Callable[..., CommandResult]:
    """Return a function that runs `statgraph ARGS...` from this checkout, by default in the test's own folder.

    `env` is added to this process's environment.
    """

    def run(*args: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> CommandResult:
        done = subprocess.run(
            [sys.executable, str(REPO / "cli.py"), *map(str, args)],
            cwd=cwd or tmp_path,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=COMMAND_TIMEOUT_S,
        )
        return CommandResult(done.returncode, done.stdout, done.stderr)

    return run
