"""Index engines side by side over a million articles: minutes, and 8 GB of disk."""

from __future__ import annotations

from benchmarks.engine_rows import rows_of_engines
from benchmarks.rows import Row
from benchmarks.settings import Settings


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a million synthetic articles in every engine whose package is installed."""
    return rows_of_engines(2_000 if settings.quick else 1_000_000, n_queries=10 if settings.quick else 100)
