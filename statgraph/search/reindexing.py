"""Give a finished run another kind of index."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from statgraph.config import IndexConfig
from statgraph.index.article_index import ArticleIndex
from statgraph.index.vectors import INDEX_FILE
from statgraph.runs.folders import held_run
from statgraph.runs.run import Run


class IndexSummary(NamedTuple):
    """The new index: its kind, the number of articles, its size, how long it took to build.

    `memory_bytes` is what a search loads, `disk_bytes` the size of the index folder. `rounded` says whether its vectors
    have been rounded to float16 at some time.
    """

    kind: str
    articles: int
    memory_bytes: int
    disk_bytes: int
    seconds: float
    rounded: bool


def reindex(run: Path, config: IndexConfig) -> IndexSummary:
    """Replace the index of a run, whole or not at all, and return the summary of the new one.

    Raises:
        RunError: if the folder is not a finished run, has no vectors or too few, its index is damaged, or another
            process changes it.
        UsageError: if a setting is out of range.
    """
    Run.read(run)  # refuse what is not a run before locking it
    with held_run(run):
        opened = Run.read(run)
        opened.require_vectors()
        folder = opened.index
        old = ArticleIndex.load(folder, device="cpu", converting=True)
        start = time.perf_counter()
        new = old.rebuilt(config, device="cpu")
        seconds = time.perf_counter() - start
        new.save(folder)
    disk_bytes = sum(path.stat().st_size for path in folder.iterdir())
    memory_bytes = (folder / INDEX_FILE).stat().st_size
    return IndexSummary(
        new.kind, len(new), memory_bytes, disk_bytes, seconds, "float16" in (old.precision, new.precision)
    )
