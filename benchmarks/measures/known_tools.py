"""statgraph beside the tools that people know, each as a program of a few lines: what it finds, takes and needs.

Without --corpus on the embedded sample and a law of the tests' own; with it on that law alone. `pip install lancedb
haystack-ai` brings the two that statgraph does not need.
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
from pathlib import Path

from benchmarks.known_tools.law import Encoder, Law
from benchmarks.measuring import Row, Settings, in_own_process
from statgraph.cache import cache_in
from statgraph.encoders.embedded import embedded_e5
from statgraph.formats.importing import import_corpus
from statgraph.law.catalogue import sample_folder
from statgraph.law.records import Corpus
from statgraph.law.store import read_corpus

OWN_LAW = Path(__file__).parents[2] / "tests" / "laws" / "household-services"
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
    "meilisearch": ("Meilisearch", ""),
}
_NO_SERVER = "a server in Rust, in no package index that is reached here"
DEPTH, QUESTIONS = 100, 100
# Of the articles that answer a question and those that are found.
MEASURES: dict[str, Callable[[set[str], list[str]], float]] = {
    "S@1": lambda right, found: not right.isdisjoint(found[:1]),
    "S@3": lambda right, found: not right.isdisjoint(found[:3]),
    "R@100": lambda right, found: len(right.intersection(found[:DEPTH])) / len(right),
}


def measure(settings: Settings) -> list[Row]:
    """Return a row for each tool on each law; those that learn only where there are questions to learn from."""
    sample = settings.corpus.resolve() == sample_folder().resolve()
    laws = [settings.corpus, OWN_LAW] if sample else [settings.corpus]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for law in laws[-1:] if settings.quick else laws:
            corpus = read_law(law)
            what = f"{corpus.name}, {len(corpus.articles):,} articles, {len(corpus.split('test'))} questions"
            learns = any(question.split == "train" for question in corpus.questions)
            for tool, (name, package) in TOOLS.items():
                if tool in ("statgraph_run", "statgraph_run-fast") and not learns:
                    continue
                if not package or importlib.util.find_spec(package) is None:
                    why = _NO_SERVER if not package else f"pip install {package} first"
                    rows.append(Row(what, name, note=f"not installed here: {why}"))
                    continue
                about = {"tool": tool, "law": str(law), "folder": folder}
                # Built in one process, opened again in another.
                figures = in_own_process(built, **about) | in_own_process(reopened, **about)
                rows.append(_row(what, name, figures))
                print(f"  {what}: {name}: {rows[-1].reached}", flush=True)
    return rows


def read_law(folder: Path) -> Corpus:
    """Return the corpus of a folder, or of one of the tests' own laws."""
    return read_corpus(folder) if (folder / "qrels").is_dir() else import_corpus(folder, "jsonl")


def built(tool: str, law: str, folder: str) -> dict[str, float]:
    """Return what it takes a tool to build its search, without statgraph's cache, and to answer a question."""
    place = Path(folder, f"{Path(law).name}-{tool}")
    place.mkdir()
    first_s, _ = _answering(tool, read_law(Path(law)), place, build=True)
    encoder = Path(embedded_e5().location)
    return {"first_s": first_s, "disk_mb": _megabytes(place, encoder), "lines": code_lines(_program(tool).__file__)}


def reopened(tool: str, law: str, folder: str) -> dict[str, float]:
    """Return what it takes a tool to open its search again, and what it then finds for the test questions."""
    corpus = read_law(Path(law))
    again_s, search = _answering(tool, corpus, Path(folder, f"{Path(law).name}-{tool}"), build=False)
    seconds: list[float] = []
    found: list[tuple[set[str], list[str]]] = []
    for question in corpus.split("test"):
        start = time.perf_counter()
        found.append(({*question.article_ids}, search(question.text, DEPTH)))
        seconds.append(time.perf_counter() - start)
    figures = {"again_s": again_s, "question_ms": 1000 * statistics.median(seconds[:QUESTIONS]), "memory_mb": _memory()}
    return figures | {
        name: 100 * statistics.fmean(measure(*each) for each in found) for name, measure in MEASURES.items()
    }


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


def _row(what: str, tool: str, figures: dict[str, float]) -> Row:
    quality = ", ".join(f"{name} {figures[name]:.1f}" for name in MEASURES)
    reached = (
        f"{quality}; first answer {figures['first_s']:,.1f} s, after a restart {figures['again_s']:.1f} s, a question "
        f"{figures['question_ms']:,.1f} ms, memory {figures['memory_mb']:,.0f} MB, disk {figures['disk_mb']:,.1f} MB, "
        f"{figures['lines']:.0f} lines"
    )
    return Row(what, tool, reached=reached, figures=figures)
