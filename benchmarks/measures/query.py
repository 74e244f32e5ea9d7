"""One question, the run loaded, beside the same job put together by hand: vectors alone, or with BM25 and rank fusion
where the run is an ensemble."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.measuring import Row, Settings, Spread, ratio_text, seconds_text, taking_turns, times_faster
from statgraph.encoders.inference.onnx_query import QUERY_GRAPHS
from statgraph.encoders.inference.static_query import read_static_encoder
from statgraph.evaluation.metrics import QUALITY, question_metrics
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import split_metrics
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from tools.letters import has_letters, letter

ASKED_POINTS = 0.5
ASKED_OF_LETTERS = 2.0  # for 200 words beside ten
K, DEPTH, RRF = 10, 500, 60
PAUSE_S = 0.05  # until the threads of the search before have ceased to wait by spinning
PLAIN = "plain"  # the rival among the searches, whose others are named by their precision


@dataclass(frozen=True)
class Targets:
    """The rival of a kind of run and the figures to reach: the seconds of a question, how many times faster than the
    rival; and why it may fall short of them."""

    rival: str
    seconds: float
    times: float
    why_not: str


OF_ONE = Targets(
    "SentenceTransformer.encode, faiss.IndexFlatIP, the same fetch", 0.01, 3.0,
    "A question's time is the multiplication by the layers' weights, which the rival shares.",
)  # fmt: skip
OF_STATIC_ENSEMBLE, OF_ENSEMBLE = (
    Targets(
        "bm25s with a stemmer, SentenceTransformer and faiss.IndexFlatIP of the last member, reciprocal rank fusion",
        seconds, 1.3,
        "It asks two signals where an ensemble asks nine. Both multiply the layers.",
    )
    for seconds in (0.012, 0.02)
)  # fmt: skip


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a run in every precision that it has: the time of a question, and how much faster than put
    together by hand; of an ensemble also a row of questions inside letters.

    An ensemble has int8 where all of its transformers have the graph for it.
    """
    corpus, run = settings.corpus_and_run()
    members = list(run.member_folders.values())
    encoders = [folder / parts.QUERY_ENCODER for folder in members or [run.folder]]
    transformers = [encoder for encoder in encoders if read_static_encoder(encoder) is None]
    has_int8 = bool(transformers) and all((encoder / QUERY_GRAPHS["int8"]).is_file() for encoder in transformers)
    has = {"float32": True, "bfloat16": bool(transformers) and not members, "int8": has_int8}
    retrievers = {name: Retriever.of(run, device="cpu", precision=name) for name, there in has.items() if there}
    searches: dict[str, Callable[[str], object]] = {
        name: lambda text, of=retriever: of.search(text, K) for name, retriever in retrievers.items()
    }
    dev = corpus.split("dev")
    quality = {
        name: 100 * float(split_metrics(retriever, corpus, "dev").metrics[QUALITY].mean())
        for name, retriever in retrievers.items()
    }
    about = f"{corpus.name}, {len(corpus.articles):,} articles"
    if members:
        ranking = _plain_ranking(run)
        searches[PLAIN] = lambda text: ranking(text)[:K]
        rankings = [ranking(question.text)[:DEPTH] for question in dev]
        rivals = 100 * question_metrics(rankings, corpus.label_rows(dev), len(corpus.articles))[QUALITY].mean()
        what = f"one question to an ensemble: {about}, {len(members)} members"
        targets = OF_ENSEMBLE if transformers else OF_STATIC_ENSEMBLE
    else:
        nearest, articles = _vector_search(run.folder, K), ArticleStore(run.folder)
        searches[PLAIN] = lambda text: articles.read(nearest(text))
        what, targets = f"one question, run loaded: {about}, {run.config.encoder.backbone}", OF_ONE
    texts = [question.text for question in dev][: 3 if settings.quick else 100]
    seconds = taking_turns(searches, texts, pause_s=PAUSE_S)
    rows = []
    for name in retrievers:
        points = abs(quality[name] - quality["float32"])
        beside = f"the rival's {rivals:.1f}" if members else f"{points:.1f} points from float32's"
        note = f"Quality on dev {quality[name]:.1f}, {beside}."
        label = what if name == "float32" else f'{what}, `precision="{name}"`'
        is_good = bool(members) or points <= ASKED_POINTS
        rows += rows_of(label, targets, seconds[name], seconds[PLAIN], note, is_good)
    if members and has_letters(corpus.language):
        letters = [letter(text, corpus.language) for text in texts]
        n_words = round(statistics.mean(len(text.split()) for text in letters))
        of_letters = taking_turns({name: searches[name] for name in (PLAIN, "float32")}, letters, pause_s=PAUSE_S)
        rows.append(row_of_letters(f"{what}: inside a letter of {n_words} words", of_letters, seconds))
    return rows


def rows_of(
    what: str, targets: Targets, ours: Sequence[float], plain: Sequence[float], quality_note: str, is_good: bool = True
) -> list[Row]:
    """Return the row of a question's time, which holds if the quality is good too, and the row beside the rival."""
    spread, ratio = Spread.of(ours), times_faster(ours, plain)
    note = (
        f"Of {len(ours)} dev questions, each after {1000 * PAUSE_S:g} ms of rest. The rival's median is "
        f"{seconds_text(Spread.of(plain))}. {quality_note}"
    )
    figures = {"seconds": list(ours), "plain_seconds": list(plain)}
    limit, holds = f"p50 under {1000 * targets.seconds:g} ms", spread.median < targets.seconds and is_good
    faster, why = ratio.median >= targets.times, "" if ratio.median >= targets.times else targets.why_not
    return [
        Row(what, "", limit, seconds_text(spread), holds, figures, note),
        Row(what, targets.rival, f"{targets.times:g} times faster", ratio_text(ratio), faster, {}, why),
    ]


def row_of_letters(what: str, letters: Mapping[str, Sequence[float]], bare: Mapping[str, Sequence[float]]) -> Row:
    """Return the row of questions inside letters beside the bare ones: seconds by "float32" and "plain"."""
    ours, plain = (times_faster(bare[name], letters[name]) for name in ("float32", PLAIN))
    note = (
        f"{seconds_text(Spread.of(letters['float32']))}; eight of its sentences are read. The plain program, which "
        f"reads it as a whole, takes {seconds_text(Spread.of(letters[PLAIN]))}, {ratio_text(plain)} its own time."
    )
    asked, figures = f"at most {ASKED_OF_LETTERS:g} times its time", {name: list(letters[name]) for name in letters}
    return Row(what, "the bare question", asked, ratio_text(ours), ours.median <= ASKED_OF_LETTERS, figures, note)


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
    from Stemmer import Stemmer

    from statgraph.retrieval.lexical.analysis import stemmer_name

    name = stemmer_name(run.corpus.language)
    stemmer = Stemmer(name) if name else None
    texts = [" ".join((*article.path, article.text)) for article in ArticleStore(run.folder).read_all()]
    bm25 = bm25s.BM25()
    bm25.index(bm25s.tokenize(texts, stemmer=stemmer, stopwords=None, show_progress=False), show_progress=False)
    depth = min(DEPTH, len(texts))
    by_meaning = _vector_search([*run.member_folders.values()][-1], depth)

    def ranking(question: str) -> np.ndarray:
        tokens = bm25s.tokenize([question], stemmer=stemmer, stopwords=None, show_progress=False)
        by_words, _ = bm25.retrieve(tokens, k=depth, show_progress=False)
        return fused((by_words[0], by_meaning(question)), len(texts))

    return ranking


def fused(rankings: Sequence[np.ndarray], n_articles: int) -> np.ndarray:
    """Return the rows of some rankings by reciprocal rank fusion (Cormack et al. 2009), best first."""
    scores = np.zeros(n_articles)
    for rows in rankings:
        scores[rows] += 1 / (RRF + 1 + np.arange(len(rows)))
    candidates = np.flatnonzero(scores)
    return candidates[np.argsort(-scores[candidates], kind="stable")]
