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

_COMMANDS = ("corpora", "preparing", "search", "train", "updating", "export")
_LIBRARY = ("statgraph.retrieval.search.retriever", "statgraph.systems.pipeline", "statgraph.systems.updating.update")
MEMORY_BYTES = 3 << 30  # of addresses that a command may take beyond those of its parent


@dataclass(frozen=True)
class Done:
    """How a command ended: its exit code, or None where it was killed, what it said, and the seconds."""

    code: int | None
    said: str
    seconds: float

    @property
    def is_reported(self) -> bool:
        """Return whether it ended by itself with nothing that only a developer understands."""
        return self.code in (0, 1, 2) and "Traceback" not in self.said and "unexpected error" not in self.said

    @property
    def end(self) -> str:
        """Return the end of what it said, on one line."""
        ended = f"exit {self.code}" if self.code is not None else f"killed after {self.seconds:.1f} s"
        return f"{ended}: {' / '.join(self.said.splitlines()[-8:])}"


def preload() -> None:
    """Load what the commands need."""
    for name in (*(f"statgraph.cli.{name}" for name in _COMMANDS), *_LIBRARY, "sentence_transformers"):
        importlib.import_module(name)
    load_dgl()


def command(
    arguments: Sequence[object],
    folder: Path,
    *,
    before: Callable[[], object] = lambda: None,
    kill_after: float = 120.0,
) -> Done:
    """Return how `statgraph ARGUMENTS` ended in a folder, with a cache of the folder's own.

    Args:
        before: called in the process before the command.
        kill_after: seconds after which it is killed.
    """
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        sys.stdout.flush()
        child = os.fork()
        if not child:
            _in_child([*map(str, arguments)], folder, before, said.fileno())
        ended = os.pidfd_open(child)
        if not select.select([ended], [], [], kill_after)[0]:
            os.kill(child, signal.SIGKILL)
        os.close(ended)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read().decode("utf-8", errors="replace").strip()
    if code < 0 and code != -signal.SIGKILL:
        text += f"\nTraceback: ended by signal {-code}"
    return Done(code if code >= 0 else None, text, seconds)


def limit_memory() -> None:
    """Let this process take `MEMORY_BYTES` more of addresses."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * os.sysconf("SC_PAGE_SIZE") + MEMORY_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _in_child(arguments: list[str], folder: Path, before: Callable[[], object], out: int) -> None:
    code = 99
    try:
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(folder)
        os.environ["STATGRAPH_CACHE"] = str(folder / "cache")
        before()
        code = _status(arguments)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def _status(arguments: list[str]) -> int:
    try:
        status = cli.main(arguments, prog_name="statgraph", standalone_mode=False)
    except (Exception, KeyboardInterrupt) as error:
        code = report(error)
        if not isinstance(error, (StatgraphError, click.ClickException, click.Abort, OSError)):
            traceback.print_exc()
        return code
    return status if isinstance(status, int) else 0
