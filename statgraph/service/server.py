"""The service as a process: its socket, loading the run while it listens, and ending when told to."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import logging
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import uvicorn

from statgraph.errors import RunError, StatgraphError, UsageError
from statgraph.runs.manifest import read_run_manifest
from statgraph.service.app import create_app
from statgraph.service.config import TOKEN_VARIABLE, ServiceConfig
from statgraph.service.desk import Desk
from statgraph.service.library import Library

_BACKLOG = 256
_GRACE_S = 5  # beyond what a question may take


def serve(
    run: Path,
    config: ServiceConfig,
    *,
    host: str,
    port: int,
    device: str,
    announce: Callable[[str], None],
    precision: str = "float32",
) -> None:
    """Serve a run until SIGTERM or Ctrl-C; requests under way are answered first.

    Args:
        run: the run folder.
        config: the settings.
        host: the address to listen at.
        port: the port; 0 for any that is free.
        device: `auto`, `cpu` or `cuda`.
        announce: is told the service's address once it answers.
        precision: of the query encoder, as in `Retriever.load`.

    Raises:
        RunError: if the run cannot be loaded, or the port is taken.
        UsageError: if the host, the device or the precision is not known or not there.
    """
    read_run_manifest(run)
    with bound_socket(host, port) as listener:
        if config.token is None and not is_loopback(host):
            announce(
                f"Warning: {host} can be reached from other machines, and whoever reaches it may search and send "
                f"feedback; set {TOKEN_VARIABLE} to ask for a token"
            )
        address = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        desk = Desk(config)
        _log_as_json_lines()
        settings = uvicorn.Config(
            create_app(desk),
            http="h11",
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(config.timeout_s + _GRACE_S),
        )
        server = _Server(
            settings,
            lambda: desk.open(Library.load(run, device=device, precision=precision)),
            lambda: announce(f"Serving {run} at {address}"),
        )
        server.run(sockets=[listener])
    if server.fault is not None:
        raise server.fault


@contextmanager
def bound_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket bound to an address.

    Raises:
        RunError: if the port is taken or not to be had.
        UsageError: if the host is not this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError as error:
        raise UsageError(f"--host {host}: {error.strerror}; name an address of this machine") from None
    with socket.socket(family, kind, protocol) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(address)
            listener.listen(_BACKLOG)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise RunError(f"port {port} of {host} is in use; name another with --port") from None
            if error.errno == errno.EACCES:
                raise RunError(f"port {port} of {host} needs more rights; name one above 1023 with --port") from None
            if error.errno == errno.EADDRNOTAVAIL:
                raise UsageError(f"--host {host}: no address of this machine; name one that is") from None
            raise
        yield listener


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": time, "level": record.levelname.lower(), "message": record.getMessage()})


def _log_as_json_lines() -> None:
    """Have what uvicorn warns of, such as a request that is no HTTP, stand in the log as one JSON line too."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonLines())
    logger = logging.getLogger("uvicorn.error")
    logger.handlers, logger.propagate, logger.level = [handler], False, logging.WARNING


class _Server(uvicorn.Server):
    """Loads the run while it listens already; a signal ends it without being raised once more."""

    def __init__(self, settings: uvicorn.Config, load: Callable[[], None], announce: Callable[[], None]):
        super().__init__(settings)
        self.fault: StatgraphError | None = None
        self._load = load
        self._announce = announce
        self._loading: asyncio.Task | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        self._loading = asyncio.create_task(self._load_and_announce())

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets=sockets)
        if self._loading is not None:
            with suppress(Exception):
                await self._loading

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            try:
                yield
            finally:
                self._captured_signals.clear()  # uvicorn would end the process by them, with a status of failure

    async def _load_and_announce(self) -> None:
        try:
            await asyncio.to_thread(self._load)
        except Exception as error:
            self.fault = error
            self.should_exit = True
        else:
            if not self.should_exit:
                self._announce()
