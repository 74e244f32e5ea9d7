"""A corpus as Parquet tables, in the layout that `statgraph import parquet` reads. Needs the extra `parquet`."""

from __future__ import annotations

from pathlib import Path

from statgraph import artifacts
from statgraph.corpus.formats.parquet import write_parquet
from statgraph.corpus.records import Corpus
from statgraph.exporting.source_and_target import refuse_existing


def export_parquet(corpus: Corpus, out: Path) -> None:
    """Write a whole corpus as `write_parquet` does, citing texts and every set of questions included.

    Raises:
        UsageError: if `out` is there already.
        DependencyError: if pyarrow is missing.
    """
    refuse_existing(out)
    with artifacts.replaced_folder(out) as folder:
        write_parquet(corpus, folder)
