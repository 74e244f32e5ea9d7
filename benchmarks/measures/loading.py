"""Reading a corpus, building its graph, loading a run, searching it."""

from __future__ import annotations

import time

from benchmarks.rows import Row, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, taking_turns
from statgraph.graph.build import build_graph
from statgraph.law.store import read_corpus
from statgraph.retrieval.search.retriever import Retriever


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a corpus and a run trained on it."""
    rounds = 1 if settings.quick else 5
    corpus, run = settings.corpus_and_run()
    scale = f"{corpus.name}, {len(corpus.articles):,} articles"
    works = {
        "reading and checking the corpus": lambda: read_corpus(settings.corpus),
        "building the graph": lambda: build_graph(corpus),
    }
    seconds = taking_turns(works, rounds=rounds)
    rows = [_row(f"{name}: {scale}", values) for name, values in seconds.items()]
    start = time.perf_counter()
    retriever = Retriever.load(run)
    retriever.search("warm-up")
    rows.append(_row(f"loading the run and its first search: {scale}", [time.perf_counter() - start]))
    questions = [question.text for question in corpus.split("dev")][: 10 if settings.quick else 100]
    searches = [taking_turns({"one": lambda q=q: retriever.search(q)}, rounds=1, warm_up=False) for q in questions]
    rows.append(_row(f"one search, run loaded: {scale}", [search["one"][0] for search in searches]))
    return rows


def _row(what: str, seconds: list[float]) -> Row:
    return Row(what, "", "", seconds_text(Spread.of(seconds)), None, {"seconds": seconds})
