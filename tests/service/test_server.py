"""The socket, the warning, a run that cannot be loaded; tests/cli/test_serve.py has the process from start to stop."""

import os
import signal

import pytest

from statgraph.errors import RunError, UsageError
from statgraph.runs.article_store import ARTICLES
from statgraph.service.config import ServiceConfig
from statgraph.service.server import bound_socket, is_loopback, serve


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
        ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.org", False),
    ],
)  # fmt: skip
def test_loopback(host, expected):
    assert is_loopback(host) is expected


def test_a_host_that_is_none_is_told():
    with (
        pytest.raises(UsageError, match=r"^--host no host: .*; give an address of this machine$"),
        bound_socket("no host", 0),
    ):
        pass


def test_a_run_that_cannot_be_loaded_ends_the_service(village_run, linked_run):
    damaged = linked_run(village_run, without=ARTICLES)
    (damaged / ARTICLES).write_text("cut\n")
    told = []
    with pytest.raises(RunError, match="train the run again"):
        serve(damaged, ServiceConfig(), host="0.0.0.0", port=0, device="cpu", announce=told.append)
    (warning,) = told
    assert warning.startswith("Warning: 0.0.0.0 can be reached from other machines")
    assert "STATGRAPH_TOKEN" in warning


def test_the_run_is_loaded_in_the_precision_asked_for(village_run, monkeypatch):
    def load(run, *, device, precision, engine):
        raise UsageError(f"{run.name}, {device}, {precision}")

    monkeypatch.setattr("statgraph.service.server.LoadedRun", load)
    with pytest.raises(UsageError, match=r"^village-run, cpu, int8$"):
        serve(village_run, ServiceConfig(), host="127.0.0.1", port=0, device="cpu", precision="int8", announce=print)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_run_loads_ends_the_service_without_an_error(loaded_run, village_run, monkeypatch, number):
    def load(run, *, device, precision, engine):
        os.kill(os.getpid(), number)
        return loaded_run

    monkeypatch.setattr("statgraph.service.server.LoadedRun", load)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    announced = []
    serve(village_run, ServiceConfig(), host="127.0.0.1", port=0, device="cpu", announce=announced.append)
    assert announced == []
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before
