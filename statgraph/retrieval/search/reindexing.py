"""Give a finished run another kind of index, or a graph of its query encoder that answers faster on a CPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from statgraph.config import IndexConfig
from statgraph.encoders.backbones import is_static
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.index.vectors import INDEX_FILE
from statgraph.runs.folders import held_run
from statgraph.runs.hub import local_run
from statgraph.runs.run import RunFolder


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


class Quickened(NamedTuple):
    """The graphs of query encoders: their files, and the largest difference of a component of their vectors from
    sentence-transformers'."""

    paths: tuple[Path, ...]
    difference: float


def reindex(run: object, config: IndexConfig = IndexConfig()) -> IndexSummary:
    """Replace the index of a run, or of the run in a folder, whole or not at all; return the summary of the new one.

        reindex("runs/mine", IndexConfig(kind="ivf-pq")).memory_bytes

    Raises:
        RunError: if the folder is not a finished run, has no vectors or too few, its index is damaged, or another
            process changes it.
        UsageError: if a setting is out of range.
    """
    with _held(run) as opened:
        opened.require_vectors()
        folder = opened.index
        old = ArticleIndex.load(folder, device="cpu")
        start = time.perf_counter()
        new = old.rebuilt(config)
        seconds = time.perf_counter() - start
        new.save(folder)
    disk_bytes = sum(path.stat().st_size for path in folder.iterdir())
    memory_bytes = (folder / INDEX_FILE).stat().st_size
    return IndexSummary(
        new.kind, len(new), memory_bytes, disk_bytes, seconds, "float16" in (old.precision, new.precision)
    )


def quicken(run: object) -> Quickened:
    """Write a graph for ONNX Runtime beside the weights of a run's transformer query encoder, or of each that the
    members of an ensemble have, which answers faster on a CPU, and check it against sentence-transformers.

    Raises:
        RunError: if the folder is not a finished run, has no encoder, or another process changes it.
        DependencyError: if the extra `onnx` is not installed.
        ModelError: if the encoder is static or cannot be exported, or its vectors would differ too much.
    """
    from statgraph.encoders.inference.onnx_query import QUERY_GRAPH
    from statgraph.encoders.inference.query_graph import write_query_graph

    with _held(run) as opened:
        members = [RunFolder.read(folder) for folder in opened.member_folders.values()]
        if not members:
            opened.require_vectors()
        folders = [run.query_encoder for run in members or [opened]]
        folders = [folder for folder in folders if not is_static(str(folder))] or folders
        difference = max(write_query_graph(folder) for folder in folders)
    return Quickened(tuple(folder / QUERY_GRAPH for folder in folders), difference)


@contextmanager
def _held(run: object) -> Iterator[RunFolder]:
    """Yield a finished run, and let no other process change it meanwhile."""
    folder = local_run(run)
    RunFolder.read(folder)  # refuse what is not a run before locking it
    with held_run(folder):
        yield RunFolder.read(folder)
