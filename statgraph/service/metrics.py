"""The service's metrics in Prometheus's text format, in a registry of their own."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
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
