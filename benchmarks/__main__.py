"""`make bench`: reading, graph building and search, timed in one run on a corpus.

    python -m benchmarks [--corpus DIR] [--run DIR]

Without options it takes the embedded sample and the newest run.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

from statgraph.corpus.sample import sample_folder
from statgraph.corpus.store import read_corpus
from statgraph.graph.build import build_graph
from statgraph.search.retriever import Retriever, check_corpus
from statgraph.search.runs import newest_run
from statgraph.systems.timing import peak_memory_mib

REPEATS = 5
SEARCHES = 100


def main() -> None:
    """Print one line a measurement: median and range over the repeats."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=None)
    parser.add_argument("--run", type=Path, default=None)
    arguments = parser.parse_args()
    folder = arguments.corpus or sample_folder()
    corpus = read_corpus(folder)
    print(f"{corpus.name}: {len(corpus.articles):,} articles")
    _report("reading and checking the corpus", [_seconds(lambda: read_corpus(folder)) for _ in range(REPEATS)])
    _report("building the graph", [_seconds(lambda: build_graph(corpus)) for _ in range(REPEATS)])
    run = arguments.run or newest_run()
    check_corpus(run, corpus)
    start = time.perf_counter()
    retriever = Retriever.load(run)
    retriever.search("warm-up")
    print(f"  {'loading the run, first search':<36}{1000 * (time.perf_counter() - start):10.2f} ms")
    questions = [question.text for question in corpus.split("dev")][:SEARCHES]
    _report("one search, run loaded", [_seconds(lambda q=question: retriever.search(q)) for question in questions])
    print(f"  {'peak memory of this process':<36}{peak_memory_mib():10,} MiB")


def _seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _report(name: str, seconds: list[float]) -> None:
    low, middle, high = (1000 * value for value in (min(seconds), statistics.median(seconds), max(seconds)))
    print(f"  {name:<36}{middle:10.2f} ms   [{low:.2f} to {high:.2f}], {len(seconds)} times")


if __name__ == "__main__":
    main()
