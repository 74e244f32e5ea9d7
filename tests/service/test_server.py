"""The socket, the warning, a run that cannot be loaded, clients that do not send or do not read."""

import os
import signal
import socket
import threading
import time
from contextlib import suppress

import pytest
import uvicorn

from statgraph.errors import RunError, UsageError
from statgraph.runs.article_store import ARTICLES
from statgraph.service.config import ServiceConfig
from statgraph.service.server import _server, bound_socket, is_loopback, serve


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("localhost", True),
        ("0.0.0.0", False), ("::", False), ("192.168.1.2", False), ("example.org", False),
    ],
)  # fmt: skip
def test_loopback(host, expected):
    assert is_loopback(host) is expected


@pytest.mark.parametrize("host", ["no host", "127.0.0..1", f"{'a' * 64}.example"])
def test_a_host_that_is_none_is_told(host):
    with (
        pytest.raises(UsageError, match=rf"^host {host}: .*; give an address of this machine$"),
        bound_socket(host, 0, 30),
    ):
        pass


def test_a_run_that_cannot_be_loaded_ends_the_service(village_run, linked_run):
    damaged = linked_run(village_run, without=ARTICLES)
    (damaged / ARTICLES).write_text("cut\n")
    told = []
    with pytest.raises(RunError, match="train the run again"):
        serve({damaged: None}, ServiceConfig(), host="0.0.0.0", port=0, device="cpu", announce=told.append)
    (warning,) = told
    assert warning.startswith("Warning: 0.0.0.0 can be reached from other machines")
    assert "STATGRAPH_TOKEN" in warning


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_while_the_run_loads_ends_the_service_without_an_error(loaded_run, village_run, monkeypatch, number):
    def load(run, **how):
        os.kill(os.getpid(), number)
        return loaded_run

    monkeypatch.setattr("statgraph.service.server.LoadedRun", load)
    before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
    announced = []
    serve({village_run: None}, ServiceConfig(), host="127.0.0.1", port=0, device="cpu", announce=announced.append)
    assert announced == []
    assert (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)) == before


WAIT_S = 30
LONG = b"x" * (32 << 20)  # more than the kernel keeps for a client that does not read


async def app(scope, receive, send):
    """Answer with the length of the body, or at length."""
    if scope["type"] != "http":
        return
    n_bytes, more = 0, True
    while more:
        message = await receive()
        n_bytes, more = n_bytes + len(message.get("body", b"")), message.get("more_body", False)
    body = LONG if scope["path"] == "/long" else str(n_bytes).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture(scope="module")
def port():
    """Return the port of a service that waits three tenths of a second for headers and readers."""
    with bound_socket("127.0.0.1", 0, 0.3) as listener:
        server: uvicorn.Server = _server(app, ServiceConfig(timeout_s=0.3))
        server.config.lifespan = "off"
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join(WAIT_S)


@pytest.fixture
def client(port):
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as connection:
        yield connection


@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nHo"])
def test_who_does_not_send_its_headers_is_left(client, sent):
    client.sendall(sent)
    assert client.recv(1) == b""


def test_a_request_takes_its_time_once_its_headers_are_there(client):
    client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na")
    time.sleep(2.5)
    client.sendall(b"b")
    assert client.recv(1000).startswith(b"HTTP/1.1 200 OK")


def test_who_does_not_read_its_answer_is_left(client):
    client.sendall(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(1.5)
    n_bytes = 0
    with suppress(ConnectionResetError):
        while got := client.recv(1 << 20):
            n_bytes += len(got)
    assert n_bytes < len(LONG)
