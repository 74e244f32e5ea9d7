"""Commands in forked processes, which start in milliseconds because all that they need is loaded already."""

from __future__ import annotations

import importlib
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from statgraph.cli.failures import report
from statgraph.cli.main import cli
from statgraph.errors import StatgraphError
from statgraph.graph.dgl_loader import load_dgl

_LIBRARY = ("statgraph.retrieval.search.retriever", "statgraph.systems.pipeline", "statgraph.systems.updating.update")
MEMORY_BYTES = 3 << 30  # of addresses that a command may take beyond those of its parent


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, or None where it was killed; what it said; whether time ran out."""

    code: int | None
    said: str
    seconds: float
    timed_out: bool = False

    @property
    def is_reported(self) -> bool:
        """Return whether it ended by itself with nothing that only a developer understands."""
        return self.code in (0, 1, 2) and "Traceback" not in self.said and "unexpected error" not in self.said

    @property
    def end(self) -> str:
        """Return the end of what it said, on one line."""
        killed = "out of time" if self.timed_out else "killed"
        ended = f"exit {self.code}" if self.code is not None else killed
        return f"{ended}: {' / '.join(self.said.splitlines()[-8:])}"


def preload() -> None:
    """Load what the commands need."""
    commands = ("corpora", "preparing", "search", "train", "updating")
    loaded = (*(f"statgraph.cli.{name}" for name in commands), "statgraph.cli.export", *_LIBRARY)
    for name in (*loaded, "lightgbm", "sentence_transformers"):
        importlib.import_module(name)
    load_dgl()


def command(
    arguments: Sequence[object],
    folder: Path,
    *,
    before: Callable[[], object] = lambda: None,
    kill_after: float | None = None,
    timeout_s: float = 120.0,
) -> Done:
    """Return how `statgraph ARGUMENTS` ended in a folder, with a cache of the folder's own.

    Args:
        before: called in the process before the command.
        kill_after: seconds after which it is killed.
    """
    return forked(lambda: _run([*map(str, arguments)], folder, before), kill_after=kill_after, timeout_s=timeout_s)


def forked(work: Callable[[], int], *, kill_after: float | None = None, timeout_s: float = 120.0) -> Done:
    """Return how a function ended in a process of its own, which takes its result as its exit code."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _in_child(work, said.fileno())
        ended = os.pidfd_open(child)
        limit = timeout_s if kill_after is None else kill_after
        in_time = bool(select.select([ended], [], [], limit)[0])
        os.close(ended)
        if not in_time:
            os.kill(child, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
        seconds = time.perf_counter() - start
        said.seek(0)
        code = os.waitstatus_to_exitcode(status)
        text = said.read().decode("utf-8", errors="replace").strip()
    timed_out = not in_time and kill_after is None
    if code < 0 and code != -signal.SIGKILL:
        text += f"\nTraceback: ended by signal {-code}"
    return Done(code if code >= 0 else None, text, seconds, timed_out)


def limit_memory(n_bytes: int = MEMORY_BYTES) -> None:
    """Let this process take so many more bytes of addresses."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + n_bytes
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def inline(arguments: Sequence[str]) -> int:
    """Run a command in this process, and return its exit code; what it says goes where this process's does."""
    try:
        status = cli.main([*arguments], prog_name="statgraph", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        code = report(error)
        if not isinstance(error, (StatgraphError, click.ClickException, click.Abort, OSError)):
            traceback.print_exc()
        return code
    return status if isinstance(status, int) else 0


def _in_child(work: Callable[[], int], out: int) -> None:
    code = 99
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        code = work()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _run(arguments: list[str], folder: Path, before: Callable[[], object]) -> int:
    os.chdir(folder)
    os.environ["STATGRAPH_CACHE"] = str(folder / "cache")
    before()
    return inline(arguments)
