"""What every request passes through: security headers, a log line and a count, an answer for what nothing else caught,
and the gate, which checks its headers, its token and its body."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from contextlib import suppress
from datetime import UTC, datetime
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statgraph.formats.download import is_loopback
from statgraph.service.config import TOKEN_VARIABLE
from statgraph.service.problems import ProblemError, problem_response

SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",  # the page's address holds the question
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
PAGE_PATHS = ("/", "/logo", "/docs")
PAGE_FOLDER = "/static/"
# The page asks its reader for the token, so it must load without one; the API's description is no secret.
OPEN_PATHS = (*PAGE_PATHS, "/healthz", "/readyz", "/openapi.json")
# What is left of a refused body would be taken for the next request.
_CLOSE = {"Connection": "close"}


class SecurityHeaders:
    """Adds the headers to every answer. Browsers keep the page's files and revalidate them each time, for a new version
    of the service brings a new page; they store nothing else."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                is_page = scope["path"] in PAGE_PATHS or scope["path"].startswith(PAGE_FOLDER)
                headers = MutableHeaders(scope=message)
                headers.update({**SECURITY_HEADERS, "Cache-Control": "no-cache" if is_page else "no-store"})
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class Gate:
    """Lets a request in once its whole body is there, and refuses

    - 400: a body whose length is said twice (RFC 9112, section 6.1), which a proxy may read as two requests;
    - 421, with `local_only`: another host's name, by which that host's page, once its name leads to this machine, would
      read answers as its own (DNS rebinding);
    - 401: a request without the token (RFC 6750), except for the page, the API's description and health;
    - 413, 408: a body that is too long, with or without a declared length, or does not arrive within `timeout_s`.
    """

    def __init__(self, app: ASGIApp, *, token: str | None, local_only: bool, max_bytes: int, timeout_s: float):
        self._app = app
        self._token = (token or "").strip().encode("utf-8")  # a file of a secret ends with a line end
        self._local_only = local_only
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            headers = Headers(scope=scope)
            self._check(scope["path"], headers)
            body = await self._body(headers, receive)
        except ProblemError as refused:
            await problem_response(refused.status, refused.detail, headers=refused.headers)(scope, receive, send)
        else:
            await self._app(scope, _replayed(body, receive), send)

    def _check(self, path: str, headers: Headers) -> None:
        if "content-length" in headers and "transfer-encoding" in headers:
            raise ProblemError(400, "Content-Length beside Transfer-Encoding; send one of them", headers=_CLOSE)
        if self._local_only and not _is_local(headers.get("host", "localhost")):
            raise ProblemError(
                421,
                f"without {TOKEN_VARIABLE}, this service answers to localhost and 127.0.0.1; ask it by these names",
                headers=_CLOSE,
            )
        if not (path in OPEN_PATHS or path.startswith(PAGE_FOLDER) or self._fits(headers)):
            raise ProblemError(
                401,
                "this service requires a token; send it as 'Authorization: Bearer TOKEN'",
                headers={"WWW-Authenticate": 'Bearer realm="statgraph"'},
            )

    def _fits(self, headers: Headers) -> bool:
        if not self._token:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip().encode("latin-1")  # the bytes as they were sent
        return scheme.lower() == "bearer" and secrets.compare_digest(given, self._token)

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        too_long = ProblemError(
            413, f"the body is longer than {self._max_bytes:,} bytes; send a shorter one", headers=_CLOSE
        )
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length) > self._max_bytes:
            raise too_long
        body, more = bytearray(), True
        try:
            async with asyncio.timeout(self._timeout_s):
                while more:
                    message = await receive()
                    body += message.get("body", b"")
                    more = message.get("more_body", False)
                    if len(body) > self._max_bytes:
                        raise too_long
        except TimeoutError:
            raise ProblemError(
                408, f"the body did not arrive within {self._timeout_s:g} s; send it in one go", headers=_CLOSE
            ) from None
        return bytes(body)


def _is_local(host: str) -> bool:
    """Return whether a Host header names this machine as only it does itself."""
    with suppress(ValueError):
        return is_loopback(urlsplit(f"//{host}").hostname or "")
    return False


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay


LAW = "law"  # the key in a request's state under which its route leaves the name of the law
QUESTION = "question"  # and the question
WARNING = "warning"  # and what went wrong without keeping it from an answer
UNKNOWN_ROUTE = "other"
_METHODS = ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_QUESTIONS = (1, 2, 4, 8, 16, 32, 64)
_LOG = logging.getLogger("statgraph.service")


class Metrics:
    """What `/metrics` reports; a registry of its own for each service."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self.requests = Counter(
            "statgraph_requests", "Requests answered.", ["method", "route", "status", LAW], registry=registry
        )
        self.seconds = Histogram(
            "statgraph_request_seconds",
            "Seconds from a request to the end of its answer.",
            ["route", LAW],
            buckets=_SECONDS,
            registry=registry,
        )
        self.waiting = Gauge("statgraph_questions_waiting", "Questions that wait.", [LAW], registry=registry)
        self.ready = Gauge("statgraph_ready", "1 once the run is loaded.", [LAW], registry=registry)
        self.batches = Histogram(
            "statgraph_batch_questions", "Questions searched together.", [LAW], buckets=_QUESTIONS, registry=registry
        )


class RequestLog:
    """Logs and counts each request: method, path, status, milliseconds, bytes, and its law. The query string is left
    out, for the page's holds the question; `log_questions` puts it into a search's line.
    """

    def __init__(self, app: ASGIApp, *, metrics: Metrics, log_questions: bool):
        self._app = app
        self._metrics = metrics
        self._left_by_routes = (LAW, QUESTION, WARNING) if log_questions else (LAW, WARNING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, sent, fault = time.perf_counter(), 0, 0, None
        state = scope.setdefault("state", {})

        async def counted_send(message: Message) -> None:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted_send)
        except Exception as error:
            fault = error
            if not status:
                answer = problem_response(500, "this is a bug in statgraph; the service's log says more")
                await answer(scope, receive, counted_send)
        finally:
            seconds = time.perf_counter() - start
            line = {"method": scope["method"], "path": scope["path"], "status": status}
            line |= {"ms": round(1000 * seconds, 1), "bytes": sent}
            line |= {name: state[name] for name in self._left_by_routes if name in state}
            _LOG.info("request", line, exc_info=fault)
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # With names in place of ids: each article would be a figure of its own.
            route = getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
            law = state.get(LAW, "")
            self._metrics.requests.labels(method, route, str(status), law).inc()
            self._metrics.seconds.labels(route, law).observe(seconds)


class JsonLines(logging.Formatter):
    """One JSON object a record: a request's values, or level and message, with the time and the traceback, if any."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        values = {"level": record.levelname.lower(), "message": record.getMessage()}
        line = {"time": time, **(record.args if isinstance(record.args, dict) else values)}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)


def log_as_json_lines() -> None:
    """Log requests, and the warnings of uvicorn and asyncio, such as a request that is not HTTP, on standard error."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    for logger in (_LOG, logging.getLogger("uvicorn.error"), logging.getLogger("asyncio")):
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO if logger is _LOG else logging.WARNING)
