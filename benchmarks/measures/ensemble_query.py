"""One question to an ensemble, the run loaded, beside the same job put together by hand: BM25, vectors, rank fusion."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.measures.query import PAUSE_S, dev_quality, seconds_of
from benchmarks.rows import Row, ratio_text, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, times_faster
from statgraph.errors import RunError
from statgraph.evaluation.metrics import QUALITY, question_metrics
from statgraph.index.article_index import ArticleIndex
from statgraph.inference.static_query import read_static_encoder
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import Run
from statgraph.search.ensemble_run import member_folders
from statgraph.search.retriever import Retriever

ASKED_S = {"static": 0.025, "transformer": 0.04}
K, DEPTH, RRF = 10, 500, 60
PLAIN = "bm25s with a stemmer, SentenceTransformer and faiss.IndexFlatIP of the last member, reciprocal rank fusion"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of an ensemble: the time of a question, and how long the plain program takes for it."""
    corpus, folder = settings.corpus_and_run()
    run = Run.read(folder)
    if not run.kind.has_members:
        raise RunError(f"{folder}: of system {run.config.system}, not an ensemble; name one with --run")
    retriever, plain = Retriever.load(folder, device="cpu"), plain_ranking(run)
    questions = corpus.split("dev")
    texts = [question.text for question in questions]
    asked = texts[: 3 if settings.quick else 100]
    seconds = seconds_of({"ours": lambda text: retriever.search(text, K), "plain": lambda text: plain(text)[:K]}, asked)
    labels = corpus.label_rows(questions)
    of_plain = question_metrics([plain(text)[:DEPTH] for text in texts], labels, len(corpus.articles))[QUALITY]
    encoders = [member / "query_encoder" for member in member_folders(run).values()]
    kind = "static" if all(read_static_encoder(folder) is not None for folder in encoders) else "transformer"
    what = f"one question to an ensemble: {corpus.name}, {len(corpus.articles):,} articles, {len(encoders)} members"
    quality = dev_quality(retriever, corpus), 100 * float(of_plain.mean())
    return rows_of(what, ASKED_S[kind], seconds, quality)


def rows_of(what: str, asked_s: float, seconds: dict[str, list[float]], quality: tuple[float, float]) -> list[Row]:
    """Return the row of the time and that of the rival; quality is ours and the rival's on dev, in percent."""
    spread, ratio = Spread.of(seconds["ours"]), times_faster(seconds["ours"], seconds["plain"])
    note = (
        f"Of {len(seconds['ours'])} dev questions, each after {1000 * PAUSE_S:g} ms of rest. The rival's median is "
        f"{seconds_text(Spread.of(seconds['plain']))}. Quality on dev {quality[0]:.1f}, the rival's {quality[1]:.1f}."
    )
    figures = {"seconds": seconds["ours"], "plain_seconds": seconds["plain"], "quality": quality}
    return [
        Row(what, "", f"p50 under {1000 * asked_s:g} ms", seconds_text(spread), spread.median < asked_s, figures, note),
        Row(what, PLAIN, "", ratio_text(ratio), None, {}, ""),
    ]


def plain_ranking(run: Run) -> Callable[[str], np.ndarray]:
    """Return question -> article rows, best first, as a program of forty lines ranks them."""
    import bm25s
    import faiss
    from sentence_transformers import SentenceTransformer
    from Stemmer import Stemmer

    from statgraph.lexical.analysis import stemmer_name

    member = list(member_folders(run).values())[-1]
    encoder = SentenceTransformer(str(member / "query_encoder"), device="cpu", local_files_only=True)
    vectors = ArticleIndex.load(member / "index", device="cpu").vectors
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    name = stemmer_name(run.corpus.language)
    stemmer = Stemmer(name) if name else None
    texts = [" ".join((*article.path, article.text)) for article in ArticleStore(run.folder).read_all()]
    bm25 = bm25s.BM25()
    bm25.index(bm25s.tokenize(texts, stemmer=stemmer, stopwords=None, show_progress=False), show_progress=False)
    depth = min(DEPTH, len(texts))

    def ranking(question: str) -> np.ndarray:
        tokens = bm25s.tokenize([question], stemmer=stemmer, stopwords=None, show_progress=False)
        by_words, _ = bm25.retrieve(tokens, k=depth, show_progress=False)
        _, by_meaning = flat.search(encoder.encode([question], show_progress_bar=False), depth)
        return fused((by_words[0], by_meaning[0]), len(texts))

    return ranking


def fused(rankings: Sequence[np.ndarray], n_articles: int) -> np.ndarray:
    """Return the rows of some rankings by reciprocal rank fusion (Cormack et al. 2009), best first."""
    scores = np.zeros(n_articles)
    for rows in rankings:
        scores[rows] += 1 / (RRF + 1 + np.arange(len(rows)))
    found = np.flatnonzero(scores)
    return found[np.argsort(-scores[found], kind="stable")]
