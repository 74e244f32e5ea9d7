"""What `auto` makes of ten million articles: ten minutes, most of it drawing and building, and 20 GB of disk.

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

_ARTICLES, _FEW = 10_000_000, 2_000
_QUERIES = 64


def measure(settings: Settings) -> list[Row]:
    """Return the rows of synthetic articles, drawn as float16 on disk, never in memory whole."""
    n_articles, kind = (_FEW, "ivf-pq") if settings.quick else (_ARTICLES, "auto")
    folder = Path(tempfile.gettempdir()) / f"statgraph-index-{n_articles}"
    folder.mkdir(exist_ok=True)
    rows = rows_of_kind(folder, n_articles, kind, n_queries=_QUERIES, n_single=10, rounds=3, precision="float16")
    shutil.rmtree(folder)
    return rows
