"""Index engines side by side at the size of a national code of law: recall, latency, memory."""

from __future__ import annotations

from benchmarks.engine_rows import rows_of_engines
from benchmarks.rows import Row
from benchmarks.settings import Settings


def measure(settings: Settings) -> list[Row]:
    """Return the rows of 30,000 synthetic articles in every engine whose package is installed."""
    return rows_of_engines(2_000 if settings.quick else 30_000, n_queries=10 if settings.quick else 100)
