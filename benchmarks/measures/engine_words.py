"""Index engines' own BM25 beside ours, over the articles and the dev questions of a corpus."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.engine_rows import PACKAGES
from benchmarks.engine_trial import PLACES
from benchmarks.index_rows import scratch_folder
from benchmarks.rows import Row, not_measured
from benchmarks.settings import Settings
from statgraph.config import Bm25Config
from statgraph.corpus.records import Corpus, Question
from statgraph.corpus.store import read_corpus
from statgraph.corpus.validity import days_in_force
from statgraph.corpus.where import ANYWHERE, Where
from statgraph.encoders.article_text import article_texts
from statgraph.index.engines.contract import Columns, IndexEngine, State
from statgraph.lexical.analysis import TERMS, analyser
from statgraph.lexical.bm25 import BM25, best_rows
from statgraph.registry import ENGINES
from statgraph.search.evaluating import split_questions

DEPTHS = (10, 100)
_SPLIT = "dev"
_STATE = State("a" * 64, "1" * 64)
_WIDTH = 8  # vectors are of no matter here
# What weighs words there whatever it is told: Lance takes no parameters, and Milvus Lite 3.2 passes over them.
_OWN = {"lance": Bm25Config(k1=1.2, b=0.75), "milvus": Bm25Config(k1=1.5, b=0.75)}


def measure(settings: Settings) -> list[Row]:
    """Return a row for each engine and condition: the share of our best that are among its best, the time of a question
    against ours, and the recall of the articles that answer it."""
    corpus = read_corpus(settings.corpus)
    terms = analyser(corpus.language)
    words = [" ".join(terms(text)) for text in article_texts(corpus.articles)]
    days = np.array([days_in_force(article.metadata) for article in corpus.articles], dtype=np.int32)
    columns = Columns([article.path for article in corpus.articles], days, words)
    questions = split_questions(corpus, _SPLIT)[: 10 if settings.quick else None]
    here = [name for name, package in PACKAGES.items() if find_spec(package)]
    with scratch_folder() as folder:
        readers = {name: _written(name, folder, corpus, columns) for name in here}
        rows = [
            row
            for name, where in _conditions(corpus).items()
            for row in _rows(name, where, columns, corpus, questions, readers)
        ]
    away = [name for name in PACKAGES if name not in here]
    return rows + [
        not_measured(f"words in engine {name}", against="", asked="", why=f"{PACKAGES[name]} was not installed.")
        for name in away
    ]


def _written(name: str, folder: Path, corpus: Corpus, columns: Columns) -> IndexEngine:
    """Return a reader of all articles with their words."""
    place = str(folder / PLACES[name])
    ids = [article.article_id for article in corpus.articles]
    vectors = np.ones((len(ids), _WIDTH), dtype=np.float32)
    ENGINES.load(name).create(place, _STATE, bm25=Bm25Config()).write(ids, [(0, vectors)], columns)
    return ENGINES.load(name).open(place, _STATE)


def _conditions(corpus: Corpus) -> dict[str, Where]:
    """Return all articles, and those of the code with the most."""
    code, n_articles = Counter(article.path[0] for article in corpus.articles if article.path).most_common(1)[0]
    return {"all": ANYWHERE, f"a code ({n_articles / len(corpus.articles):.0%})": Where(codes=(code,))}


def _rows(
    name: str,
    where: Where,
    columns: Columns,
    corpus: Corpus,
    questions: Sequence[Question],
    readers: Mapping[str, IndexEngine],
) -> list[Row]:
    """Return the rows of a condition; the engines take turns, question by question."""
    terms = analyser(corpus.language)
    asked = [" ".join(terms(question.text)) for question in questions]
    met = np.array([row for row, path in enumerate(columns.paths) if not where.codes or path[:1] == where.codes])
    ours = _Ours(corpus, columns, met)
    ours.best(asked[0], Bm25Config())
    searches = {"ours": lambda text: ours.best(text, Bm25Config())}
    for engine, reader in readers.items():
        searches[engine] = lambda text, reader=reader: reader.search_text([text], DEPTHS[-1], where)[0].ids
        searches[engine](asked[0])  # what is read once
    seconds: dict[str, list[float]] = {engine: [] for engine in searches}
    found: dict[str, list[tuple[str, ...]]] = {engine: [] for engine in searches}
    for text in asked:
        for engine, search in searches.items():
            start = time.perf_counter()
            found[engine].append(search(text))
            seconds[engine].append(time.perf_counter() - start)
    p50 = {engine: float(np.median(values)) for engine, values in seconds.items()}
    answered = {
        engine: np.mean([_share(question.article_ids, ids) for question, ids in zip(questions, rankings, strict=True)])
        for engine, rankings in found.items()
    }
    note = (
        f"The {len(asked)} questions of {_SPLIT}, engines in turns, while the machine had a load of "
        f"{os.getloadavg()[0]:.1f}; ours took {1000 * p50['ours']:.2f} ms and found {100 * answered['ours']:.1f}% of "
        f"the answers among its best {DEPTHS[-1]}. In brackets the same with the k1 and b of the engine in ours."
    )
    rows = []
    for engine in readers:
        shared = _overlaps(found["ours"], found[engine])
        alike = _overlaps([ours.best(text, _OWN.get(engine, Bm25Config())) for text in asked], found[engine])
        reached = ", ".join(f"@{depth} {shared[depth]:.3f} ({alike[depth]:.3f})" for depth in DEPTHS) + (
            f"; p50 {1000 * p50[engine]:.2f} ms, {p50[engine] / p50['ours']:.1f} times ours; "
            f"R@{DEPTHS[-1]} {100 * answered[engine]:.1f}%"
        )
        what = f"words in engine {engine}, {corpus.name}, {len(columns.paths):,} articles, {name}"
        figures = {"seconds": seconds[engine], "seconds_ours": seconds["ours"], "overlap": shared, "alike": alike}
        rows.append(Row(what, "the best of our BM25", "", reached, None, figures, note))
    return rows


class _Ours:
    """Our BM25 over the articles of a condition, by its parameters."""

    def __init__(self, corpus: Corpus, columns: Columns, met: np.ndarray):
        self._ids = [article.article_id for article in corpus.articles]
        self._words, self._met = columns.words, met
        self._made: dict[Bm25Config, BM25] = {}

    def best(self, text: str, config: Bm25Config) -> tuple[str, ...]:
        """Return the ids of the best for a question's words."""
        if config not in self._made:
            self._made[config] = BM25(self._words, language=TERMS, k1=config.k1, b=config.b)
        scores = self._made[config].scores(text)[self._met]
        rows = [row for row in best_rows(scores, DEPTHS[-1]) if scores[row] > 0]
        return tuple(self._ids[self._met[row]] for row in rows)


def _overlaps(wanted: list[tuple[str, ...]], found: list[tuple[str, ...]]) -> dict[int, float]:
    """Return by depth the mean share of the best of one ranking that are among the best of the other."""
    pairs = list(zip(wanted, found, strict=True))
    return {depth: float(np.mean([_share(best[:depth], ids[:depth]) for best, ids in pairs])) for depth in DEPTHS}


def _share(wanted: Sequence[str], found: Sequence[str]) -> float:
    """Return the share of `wanted` that is in `found`; 1 of none."""
    return len(set(wanted) & set(found)) / len(wanted) if wanted else 1.0
