"""A tool on a law, in a process of its own, which prints its figures as JSON.

python -m benchmarks.known_tools.one TOOL CORPUS FOLDER build|reopen

A TOOL is a module of this folder; statgraph_run-fast and statgraph_run-articles are that of statgraph without a
transformer, and with nothing but the articles.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from benchmarks.known_tools.law import Encoder, Law
from statgraph.encoders.embedded import embedded_e5
from statgraph.formats.importing import import_corpus
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus

DEPTH, QUESTIONS = 100, 100
# Of the articles that answer a question and those that are found.
MEASURES: dict[str, Callable[[set[str], list[str]], float]] = {
    "S@1": lambda right, found: not right.isdisjoint(found[:1]),
    "S@3": lambda right, found: not right.isdisjoint(found[:3]),
    "R@100": lambda right, found: len(right.intersection(found[:DEPTH])) / len(right),
}


def read_law(folder: Path) -> Corpus:
    """Return the corpus of a folder, or of one of the tests' own laws."""
    return read_corpus(folder) if (folder / "qrels").is_dir() else import_corpus(folder, "jsonl")


def main(tool: str, corpus_folder: str, folder: str, step: str) -> dict[str, float]:
    """Build the search of a tool and answer a question, or open it again and answer all, and return what that took."""
    corpus = read_law(Path(corpus_folder))
    law, tests = Law.of(corpus, Path(embedded_e5().location)), corpus.split("test")
    module, _, variant = tool.partition("-")
    if variant == "articles":
        law = Law(replace(law.corpus, questions=(), citing=()), law.encoder)
    start = time.perf_counter()
    program = importlib.import_module(f"benchmarks.known_tools.{module}")
    if step == "build":
        program.build(law, Path(folder), **({"fast": True} if variant == "fast" else {}))
    search = program.reopen(Path(folder), law)
    search(tests[0].text, DEPTH)
    first_s = time.perf_counter() - start + Encoder.saved_s
    if step == "build":
        size = _megabytes(Path(folder), law.encoder)
        return {"first_s": first_s, "disk_mb": size, "lines": code_lines(program.__file__)}
    seconds: list[float] = []
    found: list[tuple[set[str], list[str]]] = []
    for question in tests:
        start = time.perf_counter()
        found.append(({*question.article_ids}, search(question.text, DEPTH)))
        seconds.append(time.perf_counter() - start)
    figures = {"again_s": first_s, "question_ms": 1000 * statistics.median(seconds[:QUESTIONS]), "memory_mb": _memory()}
    return figures | {
        name: 100 * statistics.fmean(measure(*each) for each in found) for name, measure in MEASURES.items()
    }


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


if __name__ == "__main__":
    sys.stdout.write("\n" + json.dumps(main(*sys.argv[1:])) + "\n")
