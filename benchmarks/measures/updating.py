"""A run takes a new version of its law in which one article in a hundred is amended, against a full re-index."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.measuring import Row, Settings, Spread, ratio_text, seconds_text, times_faster
from statgraph.cache import cache_in
from statgraph.encoders.backbones import is_static
from statgraph.law.records import Corpus
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.search.retriever import Retriever
from statgraph.runs import parts
from statgraph.systems.updating.update import TextVectors, UpdateSummary, update_run

SHARE = 0.01
K = 10


def measure(settings: Settings) -> list[Row]:
    """Return the row of a run: how much faster the update is, and whether both give the same vectors and hits. Nothing
    is cached. With a transformer the re-index runs once, since it embeds the whole law."""
    corpus, trained = settings.corpus_and_run()
    run, backbone = trained.folder, trained.config.encoder.backbone
    rounds = 3 if is_static(backbone) and not settings.quick else 1
    new = _amended(corpus, np.random.default_rng(0))
    seconds: dict[str, list[float]] = {"updated": [], "full": []}
    summaries: dict[str, UpdateSummary] = {}
    with tempfile.TemporaryDirectory(dir=run.resolve().parent) as scratch:
        for number in range(rounds):
            for name, values in seconds.items():
                with cache_in(Path(scratch) / f"cache-{name}-{number}"):
                    summaries[name] = _updated(run, new, Path(scratch) / name, full=name == "full")
                values.append(summaries[name].seconds)
        difference, same_hits = _difference(Path(scratch) / "updated", Path(scratch) / "full", new)
    ratio = times_faster(seconds["updated"], seconds["full"])
    update = summaries["updated"]
    what = (
        f"update: {new.name}, {len(new.articles):,} articles, {len(update.changes.amended_ids):,} amended, {backbone} "
        f"({update.recomputed:,} vectors computed)"
    )
    note = (
        f"The update took {seconds_text(Spread.of(seconds['updated']))}, the re-index "
        f"{seconds_text(Spread.of(seconds['full']))}. No component of a vector differs by more than {difference:.1g}; "
        f"of the dev questions {same_hits:.1%} have the same {K} hits in the same order. Both in a process that has "
        "its libraries loaded and the corpus read."
    )
    figures = {"seconds": seconds["updated"], "full_seconds": seconds["full"]}
    figures |= {"difference": difference, "same_hits": same_hits}
    return [Row(what, "a full re-index with the same weights", ratio_text(ratio), figures, note)]


def _amended(corpus: Corpus, rng: np.random.Generator) -> Corpus:
    """Return the corpus with one article in a hundred, at least one, amended by a sentence at its end."""
    n_articles = len(corpus.articles)
    rows = set(rng.choice(n_articles, max(1, round(SHARE * n_articles)), replace=False).tolist())
    articles = (
        replace(article, text=f"{article.text}\nAmended by decree no. {row}.") if row in rows else article
        for row, article in enumerate(corpus.articles)
    )
    return replace(corpus, articles=tuple(articles))


def _updated(run: Path, new: Corpus, copy: Path, *, full: bool) -> UpdateSummary:
    """Bring a fresh copy of the run to the new version; copying is not in the summary's time."""
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy, ignore=shutil.ignore_patterns(parts.CHECKPOINTS.name))
    return update_run(copy, new, full=full, texts=TextVectors(device="cpu"))


def _difference(updated: Path, full: Path, new: Corpus) -> tuple[float, float]:
    """Return (largest difference of a vector's component, share of dev questions with the same hits)."""
    vectors = [ArticleIndex.load(copy / parts.INDEX, device="cpu").vectors for copy in (updated, full)]
    questions = [question.text for question in new.split("dev")]
    hits = [Retriever.load(copy, device="cpu").rank(questions, K) for copy in (updated, full)]
    same = [list(ours.rows) == list(theirs.rows) for ours, theirs in zip(*hits, strict=True)]
    return float(np.abs(vectors[0] - vectors[1]).max()), float(np.mean(same)) if same else 1.0
