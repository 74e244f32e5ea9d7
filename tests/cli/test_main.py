import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import indent

import click
import pytest

from statgraph import __version__
from statgraph.cli import main as command_line
from statgraph.errors import CorpusError, UsageError

REPO = Path(__file__).parents[2]


@pytest.fixture
def run_failing(run_here, monkeypatch):
    """Return a function that runs `statgraph doctor` with a command that raises: (exit code, output, error)."""

    def run(error: BaseException) -> tuple[int, str, str]:
        @click.command("doctor")
        def fails() -> None:
            raise error

        monkeypatch.setattr(command_line.LazyGroup, "get_command", lambda self, ctx, name: fails)
        return run_here("doctor")

    return run


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_lists_every_command(ran, option):
    done = ran(option)
    assert done.startswith("Usage: statgraph [OPTIONS] COMMAND [ARGS]...\n")
    listed = done.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in listed] == list(command_line.COMMANDS)


def test_version(run_here):
    assert run_here("--version") == (0, f"statgraph, version {__version__}\n", "")


@pytest.mark.parametrize(("asked", "policy"), [(None, "PASSIVE"), ("ACTIVE", "ACTIVE")])
def test_threads_wait_asleep_unless_the_environment_says_otherwise(run_here, monkeypatch, asked, policy):
    monkeypatch.setenv("OMP_WAIT_POLICY", asked or "")  # restored after the test
    if asked is None:
        monkeypatch.delenv("OMP_WAIT_POLICY")
    run_here("--version")
    assert os.environ["OMP_WAIT_POLICY"] == policy


@pytest.mark.parametrize(
    ("typed", "suggestion"),
    [("serch", " Did you mean 'search'?"), ("built-graph", " Did you mean 'build-graph'?"), ("xyz", "")],
)
def test_unknown_command(run_here, typed, suggestion):
    assert run_here(typed) == (
        2,
        "",
        "Usage: statgraph [OPTIONS] COMMAND [ARGS]...\n"
        "Try 'statgraph --help' for help.\n\n"
        f"Error: No such command '{typed}'.{suggestion}\n",
    )


@pytest.mark.parametrize(
    ("command", "module", "extra"),
    [
        ("embed --run x --corpus x --out y", "ray", "sharding"),
        ("plot corpus", "matplotlib", "plots"),
        ("tune qabisar --trials 1", "optuna", "tuning"),
        ("mcp --run x", "mcp", "serve"),
        ("serve --run x", "uvicorn", "serve"),
    ],
)
def test_a_command_whose_extra_is_not_installed_is_one_line(run_cli, tmp_path, command, module, extra):
    """In a process of its own, before which a module of the name stands in the way."""
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{module!r}] = None\n")
    done = run_cli(*command.split(), env={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (f"Error: {module}: not installed; run in statgraph's checkout: pip install '.[{extra}]'\n")


def test_no_command_shows_the_help(run_here):
    done = run_here()

    assert done.returncode == 2
    assert "Commands:\n" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (
            UsageError("unknown device 'gpu'; choose from cpu, cuda"),
            2,
            "unknown device 'gpu'; choose from cpu, cuda",
        ),
        (CorpusError("a:1: first", "a:2: second"), 1, "a:1: first\na:2: second"),
        (
            OSError(errno.ENOSPC, "No space left on device"),
            1,
            "No space left on device; free some space, or write to another disk",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/runs/x"),
            1,
            "/runs/x: Permission denied; change its permissions, or choose another place",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file or directory", "runs/x"),
            1,
            "runs/x: No such file or directory; check the name, and that nothing else has moved or removed it",
        ),
        (
            OSError(errno.EMFILE, "Too many open files", "runs/x"),
            1,
            "runs/x: Too many open files; allow more open files (ulimit -n)",
        ),
        (OSError("odd\nmore"), 1, "odd; check that place and run the command again"),
        (
            MemoryError(),
            1,
            "not enough memory; close other programs, or use smaller batches or a machine with more",
        ),
        (
            ValueError("shapes differ\nmore"),
            1,
            "unexpected error: ValueError: shapes differ; this is a bug in statgraph: "
            "set STATGRAPH_DEBUG=1 to see where, and report it",
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_every_failure_is_one_message(run_failing, monkeypatch, error, status, text):
    monkeypatch.delenv("STATGRAPH_DEBUG", raising=False)

    assert run_failing(error) == (status, "", f"Error: {text}\n")


def test_debug_shows_where_an_unexpected_error_came_from(run_failing, monkeypatch):
    monkeypatch.setenv("STATGRAPH_DEBUG", "1")

    with pytest.raises(ValueError, match="shapes differ"):
        run_failing(ValueError("shapes differ"))


WAITING = "print('started', flush=True)\ntime.sleep(60)"
IN_A_DESTRUCTOR = f"class Array:\n    def __del__(self):\n{indent(WAITING, ' ' * 8)}\nArray()\ntime.sleep(60)"

ONCE_MORE_AT_THE_END = f"""\
import os, sys
class Late:
    def __del__(self, kill=os.kill, process=os.getpid()):
        kill(process, {signal.SIGINT:d})
sys.late = Late()
{WAITING}"""


@pytest.mark.parametrize("body", [WAITING, IN_A_DESTRUCTOR, ONCE_MORE_AT_THE_END])
def test_interrupt_from_the_keyboard(tmp_path, heed_interrupts, body):
    slow = f"import click, time\n@click.command()\ndef slow():\n{indent(body, ' ' * 4)}\n"
    (tmp_path / "slow_command.py").write_text(slow)
    code = (
        "from statgraph.cli import main as m\n"
        "m.COMMANDS['doctor'] = ('slow_command', 'slow', '')\n"
        "import sys; sys.argv = ['statgraph', 'doctor']\n"
        "m.main()\n"
    )
    path = os.pathsep.join([str(REPO), str(tmp_path)])
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        stdout=-1,
        stderr=-1,
        text=True,
        preexec_fn=heed_interrupts,
    )
    assert process.stdout.readline() == "started\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)

    assert (process.returncode, stderr.strip()) == (130, "Interrupted")
