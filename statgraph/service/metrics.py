"""The service's own figures, in Prometheus's text format, in a registry of their own."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_QUESTIONS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Requests by route and status, how long they took, how many questions wait and how many are searched together."""

    def __init__(self):
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "statgraph_requests", "Requests answered.", ["method", "route", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "statgraph_request_seconds",
            "Seconds from a request to the end of its answer.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._waiting = Gauge("statgraph_questions_waiting", "Questions that wait.", registry=self._registry)
        self._ready = Gauge("statgraph_ready", "1 once the run is loaded.", registry=self._registry)
        self._batches = Histogram(
            "statgraph_batch_questions", "Questions searched together.", buckets=_QUESTIONS, registry=self._registry
        )

    def answered(self, *, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def searched_together(self, questions: int) -> None:
        """Count a batch of questions."""
        self._batches.observe(questions)

    def watch_waiting(self, waiting: Callable[[], int]) -> None:
        """Read how many questions wait whenever the figures are asked for."""
        self._waiting.set_function(waiting)

    def ready(self) -> None:
        """Tell that the run is loaded."""
        self._ready.set(1)

    def text(self) -> bytes:
        """Return all figures in Prometheus's text format."""
        return generate_latest(self._registry)
