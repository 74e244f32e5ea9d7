"""What every request passes through: security headers, the bearer token, the bound on its body."""

from __future__ import annotations

import asyncio
import secrets

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statgraph.service.problems import problem_response

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
# The page asks its reader for the token, so it must load without one; the API's description is no secret.
OPEN_PATHS = ("/", "/logo", "/healthz", "/readyz", "/docs", "/openapi.json")
OPEN_FOLDER = "/static/"
# What is left of a refused body would be taken for the next request.
_CLOSE = {"Connection": "close"}


class SecurityHeaders:
    """Adds the headers to every answer, and `no-store` to those that say nothing of caching."""

    def __init__(self, app: ASGIApp):
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(SECURITY_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class BearerToken:
    """Answers 401 to a request without the token (RFC 6750), except for the page, the API's description and health."""

    def __init__(self, app: ASGIApp, *, token: str):
        self._app = app
        self._token = token.encode("utf-8")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_open(scope["path"]) or self._fits(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        answer = problem_response(
            401,
            "this service requires a token; send it as 'Authorization: Bearer TOKEN'",
            headers={"WWW-Authenticate": 'Bearer realm="statgraph"'},
        )
        await answer(scope, receive, send)

    def _fits(self, headers: Headers) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip().encode("latin-1")  # the bytes as they were sent
        return scheme.lower() == "bearer" and secrets.compare_digest(given, self._token)


class BodyLimit:
    """Reads the body before the application does: 413 where it is too long, with or without a declared length, 408
    where it does not arrive.

    Args:
        app: what is asked with the body in memory.
        max_bytes: how long a body may be.
        timeout_s: how long it may take to arrive.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, timeout_s: float):
        self._app = app
        self._max_bytes = max_bytes
        self._timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "0")
        status, detail = 413, f"the body is longer than {self._max_bytes:,} bytes; send a shorter one"
        body: bytes | None = None
        try:
            if not (length.isdecimal() and int(length) > self._max_bytes):
                async with asyncio.timeout(self._timeout_s):
                    body = await self._body(receive)
        except TimeoutError:
            status, detail = 408, f"the body did not arrive within {self._timeout_s:g} s; send it in one go"
        if body is None:
            await problem_response(status, detail, headers=_CLOSE)(scope, receive, send)
        else:
            await self._app(scope, _replayed(body, receive), send)

    async def _body(self, receive: Receive) -> bytes | None:
        """Return the body; None as soon as it is too long."""
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return bytes(body)
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                return None
            if not message.get("more_body", False):
                return bytes(body)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
