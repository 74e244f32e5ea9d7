"""Index engines side by side over a million articles: minutes, and 8 GB of disk."""

from __future__ import annotations

from benchmarks.engine_rows import ASKED, PACKAGES, rows_of_engines
from benchmarks.rows import Row, not_measured
from benchmarks.settings import Settings


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a million synthetic articles in every engine whose package is installed, but for Milvus."""
    engines = {name: package for name, package in PACKAGES.items() if name != "milvus"}
    n_articles, n_queries = (2_000, 10) if settings.quick else (1_000_000, 100)
    return [
        *rows_of_engines(n_articles, n_queries=n_queries, engines=engines),
        not_measured(
            f"engine milvus, {n_articles:,} articles",
            against="",
            asked=ASKED,
            why="No cluster was at hand, and Milvus Lite is not meant for more than a million vectors.",
        ),
    ]
