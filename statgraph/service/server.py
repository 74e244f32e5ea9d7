"""The service as a process: its socket, loading the runs while it listens, and shutdown on a signal."""

from __future__ import annotations

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from statgraph.errors import RunError, StatgraphError, UsageError, described, on_command_line, option, reason_of
from statgraph.formats.download import is_loopback
from statgraph.runs import parts
from statgraph.runs.folders import served_run
from statgraph.service.app import create_app
from statgraph.service.config import TOKEN_VARIABLE, ServiceConfig
from statgraph.service.laws import ServedLaw
from statgraph.service.loaded_run import LoadedRun, law_names
from statgraph.service.middleware import Metrics, log_as_json_lines

_LOG = logging.getLogger("uvicorn.error")
_BACKLOG = 256
_LOOK_EVERY_S = 1  # for an update of the run
_GRACE_S = 5  # beyond what a question may take


def serve(
    runs: Mapping[Path, Path | None],
    config: ServiceConfig,
    *,
    host: str,
    port: int,
    device: str,
    announce: Callable[[str], None],
) -> None:
    """Serve runs, each as a law, until SIGTERM or Ctrl-C; requests in progress are answered first. A run's folder is
    read again once an update has changed it, and each on SIGHUP: new requests are then answered from what it holds; if
    it cannot be loaded, from what was loaded before. A law keeps its name.

    Args:
        runs: the folders, each with the file that its readers' marks are appended to, None for none; the first is the
            law of requests that name none.
        config: how the service behaves.
        host: the address to listen on.
        port: 0 for any that is free.
        device: auto, cpu or cuda.
        announce: called with the service's address once it answers, and with warnings.

    Raises:
        RunError: if a run cannot be loaded, or the port is taken.
        UsageError: if the host or the device is unknown or not available, or two laws have one name.
    """
    metrics, opening, fault = Metrics(), asyncio.Lock(), None
    laws = {
        run: ServedLaw(name, config, metrics, feedback)
        for name, (run, feedback) in zip(law_names(runs), runs.items(), strict=True)
    }
    opened: dict[Path, tuple[int, int] | None] = {}

    async def open_run(run: Path) -> None:
        async with opening:
            opened[run] = _version(run)
            loaded = await asyncio.to_thread(LoadedRun, run, device=device, engine=config.engine, reader=config.reader)
            laws[run].open(loaded)

    async def load() -> None:
        nonlocal fault
        asked = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, asked.set)
        try:
            for run in runs:
                await open_run(run)
        except Exception as error:
            fault, server.should_exit = error, True
            return
        if not server.should_exit:
            announce(f"Serving {', '.join(map(str, runs))} at {address}")
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(asked.wait(), _LOOK_EVERY_S)
            # An engine's vectors are written after the run, and only a signal says when.
            changed = [run for run in runs if config.engine is None and _version(run) not in (None, opened[run])]
            reread = list(runs) if asked.is_set() else changed
            asked.clear()
            for run in reread:
                try:
                    await open_run(run)
                except Exception as error:
                    reason = on_command_line(error if isinstance(error, StatgraphError) else described(error))
                    _LOG.error("%s; the run that was loaded before is served", reason)
                else:
                    announce(f"Serving {run} as it is now")

    with ExitStack() as stack:
        for run, law in laws.items():
            law.reopen = partial(open_run, run)
            stack.enter_context(served_run(run))
        listener = stack.enter_context(bound_socket(host, port, config.timeout_s))
        if config.token is None and not is_loopback(host):
            announce(
                f"Warning: {host} can be reached from other machines, and whoever reaches it may search and send "
                f"feedback; set {TOKEN_VARIABLE} to require a token"
            )
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        server = _server(create_app(list(laws.values()), load, loopback=is_loopback(host)), config)
        _run_until_signalled(server, listener)
    if fault is not None:
        raise fault


@contextmanager
def bound_socket(host: str, port: int, timeout_s: float) -> Iterator[socket.socket]:
    """Yield a socket that listens at an address. The system ends the connection of a client that does not take its
    answer within the time.

    Raises:
        RunError: if the port is taken or needs more rights.
        UsageError: if the host is not this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as error:  # the latter from a label that is blank or too long
        reason = getattr(error, "strerror", None) or reason_of(error)
        raise UsageError(f"{option('host')} {host}: {reason}; give an address of this machine") from None
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # of Linux; connections inherit it
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * timeout_s))
        try:
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise RunError(f"port {port} of {host} is in use; choose another with {option('port')}") from None
            if error.errno == errno.EACCES:
                raise RunError(
                    f"port {port} of {host} needs more rights; choose one above 1023 with {option('port')}"
                ) from None
            if error.errno == errno.EADDRNOTAVAIL:
                raise UsageError(f"{option('host')} {host}: not an address of this machine; give one that is") from None
            raise
        yield listener


def _version(run: Path) -> tuple[int, int] | None:
    """Return what differs once an update has replaced a run; None while there is none."""
    with suppress(OSError):
        manifest = (run / parts.MANIFEST).stat()
        return manifest.st_ino, manifest.st_mtime_ns
    return None


def _server(app: FastAPI, config: ServiceConfig) -> uvicorn.Server:
    log_as_json_lines()
    stalled: set[tuple[Any, Any]] = set()

    async def close_stalled() -> None:
        """Close the connections on which no request has begun since the last call."""
        nonlocal stalled
        waiting = {
            (connection, connection.cycle)  # which is that of the last request
            for connection in server.server_state.connections
            if connection.cycle is None or connection.cycle.response_complete
        }
        for connection, _ in waiting & stalled:
            connection.transport.close()
        stalled = waiting

    settings = uvicorn.Config(
        app,
        http="h11",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=int(config.timeout_s + _GRACE_S),
        callback_notify=close_stalled,
        timeout_notify=config.timeout_s,
    )
    server = uvicorn.Server(settings)
    return server


def _run_until_signalled(server: uvicorn.Server, listener: socket.socket) -> None:
    # uvicorn raises the signal again once it has shut down; like Ctrl-C, SIGTERM then arrives as KeyboardInterrupt.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])
    finally:
        signal.signal(signal.SIGTERM, before)
