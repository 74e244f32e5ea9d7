"""Kinds of index beside exact search: recall, speed and memory by the number of articles."""

from __future__ import annotations

from benchmarks.index_rows import rows_of_kind, scratch_folder
from benchmarks.rows import Row
from benchmarks.settings import Settings

_QUERIES = 200
_KINDS = {30_000: ("ivf-pq",), 100_000: ("auto", "ivf-pq"), 1_000_000: ("auto",)}


def measure(settings: Settings) -> list[Row]:
    """Return the rows of synthetic articles by their number, each kind in processes of its own."""
    rows = []
    for n_articles, kinds in ({2_000: ("ivf-pq",)} if settings.quick else _KINDS).items():
        n_single, rounds = (2, 1) if settings.quick else (10, 3)
        with scratch_folder() as folder:
            for kind in kinds:
                rows += rows_of_kind(folder, n_articles, kind, n_queries=_QUERIES, n_single=n_single, rounds=rounds)
    return rows
