"""One question, the run loaded: encoding it, searching, fetching the hits' texts."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, Spread, ratio_text, seconds_text, times_faster
from benchmarks.settings import Settings
from statgraph.encoders.inference.onnx_query import QUERY_GRAPHS
from statgraph.encoders.inference.static_query import read_static_encoder
from statgraph.evaluation.metrics import QUALITY
from statgraph.law.records import Corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.evaluating import split_metrics
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder

ASKED_S, ASKED_TIMES, ASKED_POINTS = 0.01, 3.0, 0.5
K = 10
_TRIED = (
    "A question's time is the multiplication by the layers' weights, which the rival shares. A run that has the graph "
    "of `statgraph quicken` multiplies in ONNX Runtime. After the rest the weights come from memory again and the "
    "caches are another's: asked one after the other, the layers take a fifth less in float32, a third less in int8. "
    "Tried by earlier commits, the layers alone after a rest, float32 in ONNX Runtime 9.8 ms: OpenVINO in float32 "
    "12.2, in bfloat16 9.4 (4.3 without the rest), in int8 8.8 (cosine 0.90 at least, with a scale for each row); ONNX "
    "Runtime's int8 by blocks of 64 7.6 (cosine 0.999), of bytes without smoothing 5.2 (0.987 on average); CTranslate2 "
    "in int8 on one thread 5.5 (0.996), in float32 18.6."
)
PAUSE_S = 0.05  # until the threads of the search before have ceased to wait by spinning
PLAIN = "SentenceTransformer.encode, faiss.IndexFlatIP, the same fetch"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of a run: the time of a question, how much faster than put together by hand, and the same in
    every precision that the run has."""
    corpus, run = settings.corpus_and_run()
    questions = [question.text for question in corpus.split("dev")][: 3 if settings.quick else 100]
    retrievers = {name: Retriever.load(run, device="cpu", precision=name) for name in precisions(run)}
    searches: dict[str, Callable[[str], list[str]]] = {"plain": plain_search(run)}
    for name, retriever in retrievers.items():
        searches[name] = lambda text, retriever=retriever: [hit.article_id for hit in retriever.search(text, K)]
    overlaps = {name: overlap(searches[name], searches["plain"], questions) for name in retrievers}
    seconds = seconds_of(searches, questions)
    quality = {name: dev_quality(retriever, corpus) for name, retriever in retrievers.items()}
    backbone = RunFolder.read(run).config.encoder.backbone
    what = f"one question, run loaded: {corpus.name}, {len(corpus.articles):,} articles, {backbone}"
    rows = []
    for name in retrievers:
        label = what if name == "float32" else f'{what}, `precision="{name}"`'
        rows += rows_of(label, seconds[name], seconds["plain"], overlaps[name], quality[name], quality["float32"])
    return rows


def precisions(run: Path) -> list[str]:
    """Return float32, bfloat16 where a transformer encodes, and int8 where the run has the graph for it."""
    encoder = run / parts.QUERY_ENCODER
    quantised = (encoder / QUERY_GRAPHS["int8"]).is_file()
    return ["float32", *["bfloat16"] * (read_static_encoder(encoder) is None), *["int8"] * quantised]


def rows_of(
    what: str, ours: Sequence[float], plain: Sequence[float], overlapping: float, quality: float, exact_quality: float
) -> list[Row]:
    """Return the row of the time and that of the rival; quality is that on dev in percent."""
    spread, ratio = Spread.of(ours), times_faster(ours, plain)
    points = abs(quality - exact_quality)
    note = (
        f"Of {len(ours)} dev questions, each after {1000 * PAUSE_S:g} ms of rest. The rival's median is "
        f"{seconds_text(Spread.of(plain))}; the ten hits are the same to {overlapping:.1%}. Quality on dev "
        f"{quality:.1f}, {points:.1f} points from float32's."
    )
    figures = {"seconds": list(ours), "plain_seconds": list(plain), "top_10_overlap": overlapping, "quality": quality}
    holds = spread.median < ASKED_S and points <= ASKED_POINTS
    faster = ratio.median >= ASKED_TIMES
    return [
        Row(what, "", f"p50 under {1000 * ASKED_S:g} ms", seconds_text(spread), holds, figures, note),
        Row(what, PLAIN, f"{ASKED_TIMES:g} times faster", ratio_text(ratio), faster, {}, "" if faster else _TRIED),
    ]


def plain_search(run: Path) -> Callable[[str], list[str]]:
    """Return the search of a run as a user would put it together: question -> ids of the hits, texts fetched."""
    import faiss
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(run / parts.QUERY_ENCODER), device="cpu", local_files_only=True)
    vectors = ArticleIndex.load(run / parts.INDEX, device="cpu").vectors
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    articles = ArticleStore(run)

    def search(question: str) -> list[str]:
        _, rows = flat.search(encoder.encode([question], show_progress_bar=False), K)
        return [article.article_id for article in articles.read(rows[0])]

    return search


def overlap(ours: Callable[[str], list[str]], theirs: Callable[[str], list[str]], questions: Sequence[str]) -> float:
    """Return the share of their hits that are ours too, over all questions."""
    shares = [len(set(ours(text)) & set(found)) / len(found) for text in questions if (found := theirs(text))]
    return float(np.mean(shares))


def seconds_of(searches: dict[str, Callable[[str], object]], questions: Sequence[str]) -> dict[str, list[float]]:
    """Return the seconds of each search by question; all search for a question before the next, each after a pause."""
    seconds: dict[str, list[float]] = {name: [] for name in searches}
    for text in questions:
        for name, search in searches.items():
            time.sleep(PAUSE_S)
            start = time.perf_counter()
            search(text)
            seconds[name].append(time.perf_counter() - start)
    return seconds


def dev_quality(retriever: Retriever, corpus: Corpus) -> float:
    """Return quality on dev, in percent."""
    return 100 * float(split_metrics(retriever, corpus, "dev").metrics[QUALITY].mean())
