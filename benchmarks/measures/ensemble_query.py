"""One question to an ensemble, the run loaded, beside the same job put together by hand: BM25, vectors, rank fusion."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from benchmarks.measures.query import PAUSE_S, dev_quality, seconds_of
from benchmarks.rows import Row, Spread, ratio_text, seconds_text, times_faster
from benchmarks.settings import Settings
from statgraph.encoders.inference.onnx_query import QUERY_GRAPHS
from statgraph.encoders.inference.static_query import read_static_encoder
from statgraph.errors import RunError
from statgraph.evaluation.metrics import QUALITY, question_metrics
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.ensemble_run import member_folders
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from tools.letters import has_letters, letter

ASKED_OF_LETTERS = 2.0  # for 200 words beside ten
ASKED_S, ASKED_TIMES = {"static": 0.012, "transformer": 0.02}, 1.3
K, DEPTH, RRF = 10, 500, 60
_WHY = "It asks two signals where an ensemble asks nine, and ranks by no trees. Both multiply the transformer's layers."
PLAIN = "bm25s with a stemmer, SentenceTransformer and faiss.IndexFlatIP of the last member, reciprocal rank fusion"


def measure(settings: Settings) -> list[Row]:
    """Return the rows of an ensemble, in float32 and in int8 where all of its transformers have the graph for it: the
    time of a question, and how long the plain program takes for it."""
    corpus, folder = settings.corpus_and_run()
    run = RunFolder.read(folder)
    if not run.kind.has_members:
        raise RunError(f"{folder}: of system {run.config.system}, not an ensemble; name one with --run")
    encoders = [member / "query_encoder" for member in member_folders(run).values()]
    transformers = [encoder for encoder in encoders if read_static_encoder(encoder) is None]
    quantised = bool(transformers) and all((encoder / QUERY_GRAPHS["int8"]).is_file() for encoder in transformers)
    precisions = ("float32", "int8") if quantised else ("float32",)
    retrievers = {name: Retriever.load(folder, device="cpu", precision=name) for name in precisions}
    plain = plain_ranking(run)
    questions = corpus.split("dev")
    texts = [question.text for question in questions]
    asked = texts[: 3 if settings.quick else 100]
    searches: dict[str, Callable[[str], object]] = {"plain": lambda text: plain(text)[:K]}
    for name, retriever in retrievers.items():
        searches[name] = lambda text, retriever=retriever: retriever.search(text, K)
    seconds = seconds_of(searches, asked)
    labels = corpus.label_rows(questions)
    of_plain = question_metrics([plain(text)[:DEPTH] for text in texts], labels, len(corpus.articles))[QUALITY]
    what = f"one question to an ensemble: {corpus.name}, {len(corpus.articles):,} articles, {len(encoders)} members"
    asked_s, rows = ASKED_S["transformer" if transformers else "static"], []
    for name, retriever in retrievers.items():
        label = what if name == "float32" else f'{what}, `precision="{name}"`'
        quality = dev_quality(retriever, corpus), 100 * float(of_plain.mean())
        rows += rows_of(label, asked_s, seconds[name], seconds["plain"], quality)
    if has_letters(corpus.language):
        letters = [letter(text, corpus.language) for text in asked]
        n_words = round(statistics.mean(len(text.split()) for text in letters))
        of_letters = seconds_of({name: searches[name] for name in ("plain", "float32")}, letters)
        rows.append(row_of_letters(f"{what}: inside a letter of {n_words} words", of_letters, seconds))
    return rows


def row_of_letters(what: str, letters: Mapping[str, Sequence[float]], bare: Mapping[str, Sequence[float]]) -> Row:
    """Return the row of questions inside letters beside the bare ones: seconds by "float32" and "plain"."""
    ours, plain = (times_faster(bare[name], letters[name]) for name in ("float32", "plain"))
    note = (
        f"{seconds_text(Spread.of(letters['float32']))}; eight of its sentences are read. The plain program, which "
        f"reads it as a whole, takes {seconds_text(Spread.of(letters['plain']))}, {ratio_text(plain)} its own time."
    )
    asked, figures = f"at most {ASKED_OF_LETTERS:g} times its time", {name: list(letters[name]) for name in letters}
    return Row(what, "the bare question", asked, ratio_text(ours), ours.median <= ASKED_OF_LETTERS, figures, note)


def rows_of(
    what: str, asked_s: float, ours: Sequence[float], plain: Sequence[float], quality: tuple[float, float]
) -> list[Row]:
    """Return the row of the time and that of the rival; quality is ours and the rival's on dev, in percent."""
    spread, ratio = Spread.of(ours), times_faster(ours, plain)
    note = (
        f"Of {len(ours)} dev questions, each after {1000 * PAUSE_S:g} ms of rest. The rival's median is "
        f"{seconds_text(Spread.of(plain))}. Quality on dev {quality[0]:.1f}, the rival's {quality[1]:.1f}."
    )
    figures = {"seconds": list(ours), "plain_seconds": list(plain), "quality": quality}
    asked, holds = f"p50 under {1000 * asked_s:g} ms", spread.median < asked_s
    faster = ratio.median >= ASKED_TIMES
    return [
        Row(what, "", asked, seconds_text(spread), holds, figures, note),
        Row(what, PLAIN, f"{ASKED_TIMES:g} times faster", ratio_text(ratio), faster, {}, "" if faster else _WHY),
    ]


def plain_ranking(run: RunFolder) -> Callable[[str], np.ndarray]:
    """Return question -> article rows, best first, as a program of forty lines ranks them."""
    import bm25s
    import faiss
    from sentence_transformers import SentenceTransformer
    from Stemmer import Stemmer

    from statgraph.retrieval.lexical.analysis import stemmer_name

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
