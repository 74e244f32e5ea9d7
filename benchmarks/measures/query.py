"""One question, the run loaded, beside the same job put together by hand: vectors alone, or with BM25 and rank fusion
where the run is an ensemble."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.known_tools.bm25_and_faiss import tokens
from benchmarks.measuring import Row, Settings, Spread, ratio_text, seconds_text, taking_turns, times_faster
from statgraph.evaluation.metrics import QUALITY, question_metrics
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import split_metrics
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from tools.letters import has_letters, letter

OF_ONE = "SentenceTransformer.encode, faiss.IndexFlatIP, the same fetch"
OF_ENSEMBLE = "bm25s with a stemmer, SentenceTransformer and FAISS of the last member, reciprocal rank fusion"
K, DEPTH, RRF = 10, 500, 60
PAUSE_S = 0.05  # until the threads of the search before have ceased to wait by spinning


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a run: the time of a question, and how much faster than put together by hand; of an ensemble
    also a row of questions inside letters."""
    corpus, run = settings.corpus_and_run()
    members = list(run.member_folders.values())
    retriever, dev = Retriever.of(run, device="cpu"), corpus.split("dev")
    note = f"Quality on dev {100 * split_metrics(retriever, corpus, 'dev').metrics[QUALITY].mean():.1f}"
    about = f"{corpus.name}, {len(corpus.articles):,} articles"
    searches: dict[str, Callable[[str], object]] = {"seconds": lambda text: retriever.search(text, K)}
    if members:
        ranking = _plain_ranking(run)
        searches["plain_seconds"] = lambda text: ranking(text)[:K]
        rankings = [ranking(question.text)[:DEPTH] for question in dev]
        rivals = question_metrics(rankings, corpus.label_rows(dev), len(corpus.articles))[QUALITY].mean()
        note += f", the rival's {100 * rivals:.1f}"
        what = f"one question to an ensemble: {about}, {len(members)} member{'s' * (len(members) > 1)}"
        rival = OF_ENSEMBLE
    else:
        nearest, articles = _vector_search(run.folder, K), ArticleStore(run.folder)
        searches["plain_seconds"] = lambda text: articles.read(nearest(text))
        what, rival = f"one question, run loaded: {about}, {run.config.encoder.backbone}", OF_ONE
    texts = [question.text for question in dev][: 3 if settings.quick else 100]
    times = taking_turns(searches, texts, pause_s=PAUSE_S)
    rows = rows_of(what, rival, times, f"{note}.")
    if members and has_letters(corpus.language):
        letters = [letter(text, corpus.language) for text in texts]
        n_words = round(statistics.mean(len(text.split()) for text in letters))
        of_letters = taking_turns(searches, letters, pause_s=PAUSE_S)
        rows.append(row_of_letters(f"{what}: inside a letter of {n_words} words", of_letters, times))
    return rows


def rows_of(what: str, rival: str, times: Mapping[str, Sequence[float]], quality_note: str) -> list[Row]:
    """Return the row of a question's time and the row beside the rival, from "seconds" and "plain_seconds"."""
    ours, plain = times["seconds"], times["plain_seconds"]
    note = (
        f"Of {len(ours)} dev questions, each after {1000 * PAUSE_S:g} ms of rest. The rival's median is "
        f"{seconds_text(Spread.of(plain))}. {quality_note}"
    )
    return [
        Row(what, "", seconds_text(Spread.of(ours)), dict(times), note),
        Row(what, rival, ratio_text(times_faster(ours, plain))),
    ]


def row_of_letters(what: str, letters: Mapping[str, Sequence[float]], bare: Mapping[str, Sequence[float]]) -> Row:
    """Return the row of questions inside letters beside the bare ones, from "seconds" and "plain_seconds" of each."""
    names = "seconds", "plain_seconds"
    ours, plain = (times_faster(bare[name], letters[name]) for name in names)
    our_time, plain_time = (seconds_text(Spread.of(letters[name])) for name in names)
    note = (
        f"{our_time}; eight of its sentences are read. The plain program, which reads it as a whole, takes "
        f"{plain_time}, {ratio_text(plain)} its own time."
    )
    return Row(what, "the bare question", ratio_text(ours), dict(letters), note)


def _vector_search(folder: Path, depth: int) -> Callable[[str], np.ndarray]:
    """Return question -> article rows by the query encoder and the vectors of a run, as a user would search them."""
    import faiss
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(folder / "query_encoder"), device="cpu", local_files_only=True)
    vectors = ArticleIndex.load(folder / parts.INDEX, device="cpu").vectors
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    return lambda question: flat.search(encoder.encode([question], show_progress_bar=False), depth)[1][0]


def _plain_ranking(run: RunFolder) -> Callable[[str], np.ndarray]:
    """Return question -> article rows, best first, as a program of forty lines ranks them."""
    import bm25s

    texts = [" ".join((*article.path, article.text)) for article in ArticleStore(run.folder).read_all()]
    bm25 = bm25s.BM25()
    bm25.index(tokens(texts, run.corpus.language), show_progress=False)
    depth = min(DEPTH, len(texts))
    by_meaning = _vector_search([*run.member_folders.values()][-1], depth)

    def ranking(question: str) -> np.ndarray:
        by_words, _ = bm25.retrieve(tokens([question], run.corpus.language), k=depth, show_progress=False)
        return fused((by_words[0], by_meaning(question)), len(texts))

    return ranking


def fused(rankings: Sequence[np.ndarray], n_articles: int) -> np.ndarray:
    """Return the rows of some rankings by reciprocal rank fusion (Cormack et al. 2009), best first."""
    scores = np.zeros(n_articles)
    for rows in rankings:
        scores[rows] += 1 / (RRF + 1 + np.arange(len(rows)))
    candidates = np.flatnonzero(scores)
    return candidates[np.argsort(-scores[candidates], kind="stable")]
