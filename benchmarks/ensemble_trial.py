"""An ensemble over a synthetic law in a process of its own: `python -m benchmarks.ensemble_trial STEP FOLDER [JSON]`.

The steps share a folder: `build` writes the run, `search` measures it beside the plain program. Each prints one JSON
object, with the peak memory of its process and the load of the machine.
"""

from __future__ import annotations

import shutil
import time
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.clustered import ClusteredVectors
from benchmarks.measures.ensemble_query import DEPTH, K, plain_ranking
from benchmarks.measures.query import seconds_of
from benchmarks.synthetic_texts import synthetic_corpus
from benchmarks.trial_steps import print_step
from statgraph import artifacts
from statgraph.config import RankerConfig
from statgraph.index.article_index import ArticleIndex
from statgraph.memory import peak_memory_mib
from statgraph.ranking.ensemble import Ensemble
from statgraph.ranking.learnt import with_trees
from statgraph.runs.article_store import ArticleStore, write_article_store
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.ensemble_run import member_folders, read_ensemble
from statgraph.search.retriever import Retriever
from statgraph.systems.ensemble import write_parts
from statgraph.systems.job import StepClock
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config

_SETTINGS = ("ensemble.members=zero-shot@embedded:static", "ranker.kind=fixed", "device=cpu")
_SMALL = 1_000  # articles whose words the static encoder is distilled from
_TRAINING, _ASKED_MOST, _LEARNT_FROM = 1_000, 100, 50  # questions: that vote, are asked, and that trees learn from
_ASKED = "asked.json"
_VECTOR_BLOCK = 100_000


def build(folder: Path, *, n_articles: int) -> dict:
    """Write `run/`, an ensemble as `train` leaves it but for its vectors, and `asked.json`, questions that it has not
    seen with the article that each is made of.

    The query encoder is that of a small law. The articles' vectors are drawn: tokenising a million articles measures
    the tokenizer alone.
    """
    small = folder / "small"
    shutil.rmtree(small, ignore_errors=True)
    trained = train_run(synthetic_corpus(_SMALL), resolve_config("ensemble", _SETTINGS), small)
    start = time.perf_counter()
    corpus = synthetic_corpus(n_articles, n_questions=_TRAINING + _ASKED_MOST + _LEARNT_FROM)
    asked, corpus = corpus.questions[_TRAINING:], replace(corpus, questions=corpus.questions[:_TRAINING])
    (labels,) = zip(*corpus.label_rows(asked), strict=True)
    artifacts.write_json(folder / _ASKED, list(zip([question.text for question in asked], labels, strict=True)))
    run = replace(trained, folder=folder / "run", corpus=CorpusFacts.of(corpus))
    clock = StepClock()
    drawn_s, start = time.perf_counter() - start, time.perf_counter()
    with clock.step("articles"):
        run.folder.mkdir(exist_ok=True)
        write_article_store(corpus.articles, run.folder)
    with clock.step("vectors"):
        (name,) = run.config.ensemble.members
        kind = _write_member(Run.read(member_folders(trained)[name]), member_folders(run)[name], corpus.article_rows)
    write_parts(run, corpus, clock)
    run.write()
    built_s = time.perf_counter() - start
    shutil.rmtree(small)
    on_disk = sum(path.stat().st_size for path in run.folder.rglob("*") if path.is_file())
    return {"draw_s": drawn_s, "build_s": built_s, "steps": clock.steps, "index": kind, "bytes": on_disk}


def _write_member(small: Run, folder: Path, article_rows: dict[str, int]) -> str:
    """Write a member with the encoder of a small law and drawn vectors, and return the kind of its index."""
    n_articles = len(article_rows)
    shutil.copytree(small.folder, folder, dirs_exist_ok=True)
    source = ClusteredVectors(n_articles)
    vectors = np.concatenate(
        [
            source.draw(min(_VECTOR_BLOCK, n_articles - first), seed=(1, first))
            for first in range(0, n_articles, _VECTOR_BLOCK)
        ]
    )
    index = ArticleIndex.build(vectors, list(article_rows), device="cpu")
    index.save(folder / artifacts.RUN_INDEX)
    return index.kind


def search(folder: Path, *, n_asked: int) -> dict:
    """Measure searches of `run/`: seconds a question with fixed weights and with 200 trees, beside the plain program.

    One question more names an article by number; the first of that kind reads the titles of all.
    """
    start = time.perf_counter()
    run = Run.read(folder / "run")
    articles = ArticleStore(run.folder)
    ensemble = read_ensemble(run, len(articles), device="cpu")
    retriever = Retriever(ensemble, articles, run)
    load_s = time.perf_counter() - start
    asked = artifacts.read_json(folder / _ASKED)
    start = time.perf_counter()
    retriever.search(asked[0][0], K)
    first_s = time.perf_counter() - start
    learnt = Retriever(_with_trees(ensemble, asked[-_LEARNT_FROM:]), articles, run)
    peak_mib = peak_memory_mib()  # before the plain program comes
    ranking = plain_ranking(run)
    searches = {
        "ours": lambda text: retriever.search(text, K),
        "trees": lambda text: learnt.search(text, K),
        "plain": lambda text: ranking(text)[:K],
    }
    texts = [text for text, _ in asked[:n_asked]]
    seconds = seconds_of(searches, [texts[0], *texts])
    named = f"Art. 7, {retriever.search(texts[0], 1)[0].path[0]}"
    start = time.perf_counter()
    retriever.search(named, K)
    first_named_s = time.perf_counter() - start
    return {
        "seconds": {name: values[1:] for name, values in seconds.items()},
        "load_s": load_s,
        "first_s": first_s,
        "first_named_s": first_named_s,
        "named_s": seconds_of({"ours": searches["ours"]}, [named] * 5)["ours"],
        "search_peak_mib": peak_mib,
    }


def _with_trees(ensemble: Ensemble, asked: list[list]) -> Ensemble:
    """Return the ensemble with as many trees as `train` learns at most, from questions and the articles that they are
    made of."""
    found = list(ensemble.features([text for text, _ in asked], DEPTH))
    config = RankerConfig()
    learnt = copy(ensemble)
    learnt.ranker = with_trees(found, [[row] for _, row in asked], ensemble.fixed, config, config.trees, seed=0)
    return learnt


if __name__ == "__main__":
    print_step({"build": build, "search": search})
