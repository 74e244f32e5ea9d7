"""statgraph beside the tools that people know, each as a program of a few lines: what it finds, takes and needs.

`pip install lancedb haystack-ai` brings the two that statgraph does not need.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.known_tools.law import Encoder, Law
from benchmarks.measuring import Row, Settings, in_own_process
from statgraph.cache import cache_in
from statgraph.encoders.embedded import embedded_e5
from statgraph.evaluation.metrics import recall, success
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus

# The name in the table, and the package without which it cannot be measured. The tool is a module of
# `benchmarks.known_tools`; -fast and -articles are statgraph without a transformer, and with nothing but the articles.
TOOLS = {
    "statgraph_run": ("statgraph, trained", "statgraph"),
    "statgraph_run-fast": ("statgraph --fast, trained", "statgraph"),
    "statgraph_run-articles": ("statgraph, articles alone", "statgraph"),
    "lancedb_hybrid": ("LanceDB, hybrid", "lancedb"),
    "haystack_pipeline": ("Haystack, BM25 + e5-small", "haystack"),
    "bm25_and_faiss": ("bm25s + FAISS", "bm25s"),
    "faiss_vectors": ("sentence-transformers + FAISS", "faiss"),
}
DEPTH, QUESTIONS = 100, 100
METRICS = {"S@1": partial(success, cut=1), "S@3": partial(success, cut=3), "R@100": partial(recall, cut=100)}


def measure(settings: Settings) -> list[Row]:
    """Return a row for each tool that is installed; with `quick` for those that embed nothing."""
    corpus, rows = read_corpus(settings.corpus), []
    what = f"{corpus.name}, {len(corpus.articles):,} articles, {len(corpus.split('test'))} questions"
    with tempfile.TemporaryDirectory() as folder:
        for tool, (name, package) in TOOLS.items():
            if importlib.util.find_spec(package) is None or (settings.quick and tool != "statgraph_run-fast"):
                continue
            about = {"tool": tool, "law": str(settings.corpus), "folder": folder}
            # Built in one process, opened again in another.
            figures = in_own_process(built, **about) | in_own_process(reopened, **about)
            reached = ", ".join(f"{figure} {value:.1f}" for figure, value in figures.items())
            rows.append(Row(what, name, reached, figures))
    return rows


def built(tool: str, law: str, folder: str) -> dict[str, float]:
    """Return what it takes a tool to build its search, without statgraph's cache, and to answer a question."""
    place = Path(folder, f"{Path(law).name}-{tool}")
    place.mkdir()
    first_s, _ = _answering(tool, read_corpus(Path(law)), place, build=True)
    encoder = Path(embedded_e5().location)
    return {"first_s": first_s, "disk_mb": _megabytes(place, encoder), "lines": code_lines(_program(tool).__file__)}


def reopened(tool: str, law: str, folder: str) -> dict[str, float]:
    """Return what it takes a tool to open its search again, and what it then finds for the test questions."""
    corpus = read_corpus(Path(law))
    again_s, search = _answering(tool, corpus, Path(folder, f"{Path(law).name}-{tool}"), build=False)
    seconds, hits = [], []
    for question in corpus.split("test"):
        start = time.perf_counter()
        found = search(question.text, DEPTH)
        seconds.append(time.perf_counter() - start)
        hits.append((np.isin(found, question.article_ids), len(question.article_ids)))
    figures = {"again_s": again_s, "question_ms": 1000 * statistics.median(seconds[:QUESTIONS]), "memory_mb": _memory()}
    return figures | {name: 100 * statistics.fmean(metric(*each) for each in hits) for name, metric in METRICS.items()}


def _program(tool: str):
    return importlib.import_module(f"benchmarks.known_tools.{tool.partition('-')[0]}")


def _answering(tool: str, corpus: Corpus, place: Path, *, build: bool) -> tuple[float, Callable]:
    """Return the seconds until a tool answers its first question, and its search."""
    law, variant = Law.of(corpus, Path(embedded_e5().location)), tool.partition("-")[2]
    if variant == "articles":
        law = Law(replace(law.corpus, questions=(), citing=()), law.encoder)
    Encoder.kept_in = place.parent
    with cache_in(place.parent / f"cache-{place.name}"):
        start = time.perf_counter()
        program = _program(tool)
        if build:
            program.build(law, place, **({"fast": True} if variant == "fast" else {}))
        search = program.reopen(place, law)
        search(corpus.split("test")[0].text, DEPTH)
        return time.perf_counter() - start + Encoder.saved_s, search


def code_lines(path: str) -> int:
    """Return how many lines of a program are neither blank nor its docstring."""
    text = Path(path).read_text(encoding="utf-8")
    docstring = ast.parse(text).body[0].end_lineno or 0
    return sum(1 for line in text.splitlines()[docstring:] if line.strip())


def _megabytes(folder: Path, encoder: Path) -> float:
    """Return the size of what is in a folder, without copies of the encoder, which each tool needs alike."""
    shared = [size for path in encoder.iterdir() if (size := path.stat().st_size) > 1e6]
    files = {path.stat().st_ino: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    return sum(size for size in files.values() if not any(abs(size / other - 1) < 0.01 for other in shared)) / 1e6


def _memory() -> float:
    """Return the megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
