"""Runs trained on the town, and what commands need to train one."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def heed_interrupts() -> Callable[[], object]:
    """Return what a child process does first to be ended by Ctrl-C: tests started in the background by a shell hand on
    that it is ignored."""
    return lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.fixture
def ran(run_here) -> Callable[..., str]:
    """Return a function that runs a command that must end well and in silence, and returns what it prints."""

    def run(*arguments: object) -> str:
        code, stdout, stderr = run_here(*arguments)
        assert (code, stderr) == (0, "")
        return stdout

    return run


@pytest.fixture(scope="session")
def bm25_run(train_town) -> Path:
    """Return a finished run of BM25 on the town: look, do not touch."""
    return train_town("bm25")


@pytest.fixture(scope="session")
def dense_run(train_town) -> Path:
    """Return a finished run of QABISAR on the town: look, do not touch."""
    return train_town("qabisar")
