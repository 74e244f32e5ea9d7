"""A bound on what a request may send, kept while it arrives: a body without a length counts too."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statgraph.service.problems import problem_response


class BodyLimit:
    """Reads the body before the application does: 413 where it is too long, 408 where it does not come.

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
        if length.isdecimal() and int(length) > self._max_bytes:
            await self._refuse(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._timeout_s):
                body = await self._body(receive)
        except TimeoutError:
            answer = problem_response(
                408, f"the body did not arrive within {self._timeout_s:g} s; send it in one go", headers=_CLOSE
            )
            await answer(scope, receive, send)
            return
        if body is None:
            await self._refuse(scope, receive, send)
            return
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

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = problem_response(
            413, f"the body is longer than {self._max_bytes:,} bytes; send a shorter one", headers=_CLOSE
        )
        await answer(scope, receive, send)


# What is left of the body would be taken for the next request.
_CLOSE = {"Connection": "close"}


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives the body once, then what comes after it."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
