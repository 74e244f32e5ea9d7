"""A run takes a new version of its law in which one article in a hundred is amended, against a full re-index."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.rows import Row, ratio_text, seconds_text
from benchmarks.settings import Settings
from benchmarks.side_by_side import Spread, times_faster
from statgraph.cache import cache_in, cache_root
from statgraph.config import RunConfig
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_text, heading_texts
from statgraph.encoders.backbones import is_static
from statgraph.law.records import Corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.graph_run import load_graph_run
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.runs.run import Run
from statgraph.systems.updating.update import TextVectors, UpdateSummary, update_run

ASKED_TIMES = 20.0
SHARE = 0.01
TOLERANCE = 1e-4
K = 10
_SAMPLES, _SAMPLE_TEXTS = 3, 400


def measure(settings: Settings) -> list[Row]:
    """Return the row of a run: how much faster the update is, and whether both give the same vectors and hits."""
    corpus, run = settings.corpus_and_run()
    config = Run.read(run).config
    new = amended(corpus, np.random.default_rng(0))
    with tempfile.TemporaryDirectory(dir=run.resolve().parent) as scratch:
        work = Path(scratch)
        if is_static(config.encoder.backbone):
            return [_whole(run, config, new, work, rounds=1 if settings.quick else 3)]
        return [_scaled(run, config, corpus, new, work, quick=settings.quick)]


def amended(corpus: Corpus, rng: np.random.Generator) -> Corpus:
    """Return the corpus with one article in a hundred, at least one, amended by a sentence at its end."""
    n_articles = len(corpus.articles)
    rows = set(rng.choice(n_articles, max(1, round(SHARE * n_articles)), replace=False).tolist())
    articles = (
        replace(article, text=f"{article.text}\nAmended by decree no. {row}.") if row in rows else article
        for row, article in enumerate(corpus.articles)
    )
    return replace(corpus, articles=tuple(articles))


def row_of(
    what: str, ours: Sequence[float], full: Sequence[float], difference: float, same_hits: float, note: str
) -> Row:
    """Return the row of the times by round, the largest difference of a vector's component, the share of equal hits."""
    ratio = times_faster(ours, full)
    holds = ratio.median >= ASKED_TIMES and difference <= TOLERANCE and same_hits == 1.0
    details = (
        f"{note} The update took {seconds_text(Spread.of(ours))}, the re-index {seconds_text(Spread.of(full))}. No "
        f"component of a vector differs by more than {difference:.1g}; of the dev questions {same_hits:.1%} have the "
        f"same {K} hits in the same order. Both in a process that has its libraries loaded and the corpus read."
    )
    figures = {"seconds": list(ours), "full_seconds": list(full), "difference": difference, "same_hits": same_hits}
    asked = f"{ASKED_TIMES:g} times faster, equal results"
    return Row(what, "a full re-index with the same weights", asked, ratio_text(ratio), holds, figures, details)


def _whole(run: Path, config: RunConfig, new: Corpus, work: Path, *, rounds: int) -> Row:
    """Return the row of a static encoder, both ways measured whole, with no cache."""
    works = {full: _update(run, new, work, full=full) for full in (False, True)}
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for at in range(rounds + 1):
        for full, prepare in works.items():
            with cache_in(work / f"cache-{at}-{full}"):
                summary = prepare()
            if at:  # the first is a warm-up
                seconds[full].append(summary.seconds)
    found = _difference(work, new)
    return row_of(_what(new, config, works[False]()), seconds[False], seconds[True], *found, "Both measured whole.")


def _scaled(run: Path, config: RunConfig, corpus: Corpus, new: Corpus, work: Path, *, quick: bool) -> Row:
    """Return the row of a transformer: what embedding all texts takes is scaled from samples."""
    kept = _linked(work / "kept", [cache_root() / "vectors"])
    # In bfloat16 a text's vector depends in its last bits on the texts beside it. What is compared takes the vector of
    # a text from one cache: the run as it begins, the update and the re-index.
    with cache_in(kept):
        _update(run, corpus, work, full=True)()
    run = shutil.move(_copy_of(work, full=True), work / "begun")
    ours = []
    for number in range(1 if quick else 3):
        with cache_in(work / f"cold-{number}"):
            ours.append(_update(run, new, work, full=False)().seconds)
    with cache_in(kept):
        summary, rest = (_update(run, new, work, full=full)() for full in (False, True))
    n_texts = rest.embedded
    per_text = _seconds_per_text(run, config, work, n_samples=1 if quick else _SAMPLES)
    full = [rest.seconds + n_texts * seconds for seconds in per_text]
    note = (
        f"The frozen encoder's vectors of {n_texts:,} texts are scaled from {len(per_text)} random samples of "
        f"{_SAMPLE_TEXTS} ({', '.join(f'{1 / seconds:.0f}' for seconds in per_text)} texts a second); the rest of the "
        f"re-index, {rest.seconds:.1f} s, is measured whole, with these vectors taken from the cache. The update's "
        "cache was empty when it was timed; for the comparison both take a text's vector from one cache, since in "
        "bfloat16 it depends in its last bits on the texts embedded beside it."
    )
    ours = (ours * len(full))[: len(full)]
    return row_of(_what(new, config, summary), ours, full, *_difference(work, new), note)


def _update(run: Path, new: Corpus, work: Path, *, full: bool) -> Callable[[], UpdateSummary]:
    """Return what brings a fresh copy of the run to the new version in place; copying is not in the summary's time."""

    def updated() -> UpdateSummary:
        copy = _copy_of(work, full=full)
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(run, copy, ignore=shutil.ignore_patterns(parts.CHECKPOINTS.name))
        return update_run(copy, new, full=full, texts=TextVectors(device="cpu"))

    return updated


def _copy_of(work: Path, *, full: bool) -> Path:
    return work / ("full" if full else "updated")


def _difference(work: Path, new: Corpus) -> tuple[float, float]:
    """Return (largest difference of a component, share of dev questions with the same hits) of both copies."""
    copies = [_copy_of(work, full=full) for full in (False, True)]
    vectors = [ArticleIndex.load(copy / parts.INDEX, device="cpu").vectors for copy in copies]
    questions = [question.text for question in new.split("dev")]
    hits = [Retriever.load(copy, device="cpu").rank(questions, K) for copy in copies]
    same = [list(ours.rows) == list(theirs.rows) for ours, theirs in zip(*hits, strict=True)]
    return float(np.abs(vectors[0] - vectors[1]).max()), float(np.mean(same)) if same else 1.0


def _seconds_per_text(run: Path, config: RunConfig, work: Path, *, n_samples: int) -> list[float]:
    """Return the seconds of embedding a text of the run, articles and headings alike, by sample; no cache."""
    import torch

    graph_run = load_graph_run(Run.read(run))
    heading_path = config.encoder.heading_path
    texts = [article_text(article, heading_path=heading_path) for article in graph_run.corpus.articles]
    texts += heading_texts(graph_run.graph.headings)
    rng = np.random.default_rng(1)
    seconds = []
    for number in range(n_samples):
        chosen = [texts[row] for row in rng.choice(len(texts), min(_SAMPLE_TEXTS, len(texts)), replace=False)]
        with cache_in(work / f"sample-{number}"):
            encoder = load_article_encoder(run, config.encoder, torch.device("cpu"))
            encoder.encode(["warm up"])
            start = time.perf_counter()
            encoder.encode(chosen)
            seconds.append((time.perf_counter() - start) / len(chosen))
    return seconds


def _what(corpus: Corpus, config: RunConfig, summary: UpdateSummary) -> str:
    return (
        f"update: {corpus.name}, {len(corpus.articles):,} articles, {len(summary.changes.amended_ids):,} amended, "
        f"{config.encoder.backbone} ({summary.recomputed:,} vectors computed)"
    )


def _linked(folder: Path, sources: Sequence[Path]) -> Path:
    """Return a cache folder whose vectors are links to those of other caches: what it adds stays its own."""
    for source in sources:
        for path in source.glob("*/*.npz"):
            link = folder / "vectors" / path.parent.name / path.name
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.exists():
                link.symlink_to(path)
    return folder
