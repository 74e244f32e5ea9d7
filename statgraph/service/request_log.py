"""One JSON line and one count for every request, and an answer for what nothing else caught."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statgraph.service.metrics import Metrics
from statgraph.service.problems import problem_response

QUESTION = "question"  # the key in a request's state under which its route leaves the question
UNKNOWN_ROUTE = "other"
_METHODS = ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")


class RequestLog:
    """Writes a line for each request: time, method, path, status, milliseconds, bytes. The query string is left out,
    for the page's holds the question.

    Args:
        app: what is asked.
        write: takes the line.
        metrics: what the request is counted in.
        log_questions: whether a search's line holds its question.
    """

    def __init__(self, app: ASGIApp, *, write: Callable[[str], None], metrics: Metrics, log_questions: bool):
        self._app = app
        self._write = write
        self._metrics = metrics
        self._log_questions = log_questions

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
            line = {
                "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
                "method": scope["method"],
                "path": scope["path"],
                "status": status,
                "ms": round(1000 * seconds, 1),
                "bytes": sent,
            }
            if self._log_questions and QUESTION in state:
                line["question"] = state[QUESTION]
            if fault is not None:
                line["error"] = "".join(traceback.format_exception(fault))
            self._write(json.dumps(line))
            self._metrics.answered(
                method=scope["method"] if scope["method"] in _METHODS else "other",
                route=_route(scope),
                status=status,
                seconds=seconds,
            )


def _route(scope: Scope) -> str:
    """Return the address of a request with names in place of ids: each article would be a figure of its own."""
    return getattr(scope.get("route"), "path", UNKNOWN_ROUTE)
