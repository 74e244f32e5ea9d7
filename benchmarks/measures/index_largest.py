"""Indexes that take long to build: the graph of a million articles, and what `auto` makes of ten million.

The steps leave their figures and files in a folder of the system's temporary one, so that a measure that was cut off
goes on where it was; it is removed when all is measured.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from benchmarks.index_rows import rows_of_kind
from benchmarks.rows import Row
from benchmarks.settings import Settings

_CASES = {1_000_000: ("hnsw", "float32"), 10_000_000: ("auto", "float16")}
_QUICK_CASES = {1_000: ("hnsw", "float32"), 2_000: ("ivf-pq", "float16")}
_QUERIES = 64


def measure(settings: Settings) -> list[Row]:
    """Return the rows of each number of synthetic articles; the vectors of ten million are drawn as float16 on disk."""
    rows = []
    for n_articles, (kind, precision) in (_QUICK_CASES if settings.quick else _CASES).items():
        folder = Path(tempfile.gettempdir()) / f"statgraph-index-{n_articles}"
        folder.mkdir(exist_ok=True)
        rows += rows_of_kind(folder, n_articles, kind, n_queries=_QUERIES, n_single=10, rounds=3, precision=precision)
        shutil.rmtree(folder)
    return rows
