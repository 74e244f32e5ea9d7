"""One JSON line and one count for every request, the metrics that hold the counts (in Prometheus's text format), and an
answer for what nothing else caught."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from statgraph.service.problems import problem_response

QUESTION = "question"  # the key in a request's state under which its route leaves the question
WARNING = "warning"  # and what went wrong without keeping it from an answer
UNKNOWN_ROUTE = "other"
_METHODS = ("GET", "POST", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS")

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_QUESTIONS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Requests by route and status and how long they took, and prometheus_client's own objects for the rest.

    Attributes:
        waiting: how many questions wait.
        ready: 1 once the run is loaded.
        batches: how many questions are searched together.
    """

    def __init__(self):
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "statgraph_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "statgraph_request_seconds",
            "Seconds from a request to the end of its answer.",
            ["route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.waiting = Gauge("statgraph_questions_waiting", "Questions that wait.", registry=registry)
        self.ready = Gauge("statgraph_ready", "1 once the run is loaded.", registry=registry)
        self.batches = Histogram(
            "statgraph_batch_questions", "Questions searched together.", buckets=_QUESTIONS, registry=registry
        )

    def answered(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)


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
            if WARNING in state:
                line["warning"] = state[WARNING]
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
