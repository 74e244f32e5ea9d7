"""From a corpus to synthetic questions: by a generator or from a file, filtered by a round trip."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from statgraph._version import __version__
from statgraph.artifacts import partial_beside
from statgraph.augmentation.law_questions import HEADINGS, heading_questions, path_questions
from statgraph.augmentation.seq2seq import SEQ2SEQ, seq2seq_questions
from statgraph.augmentation.store import PartialFile, SyntheticQuestion, synthetic_of, write_synthetic
from statgraph.config import AugmentConfig
from statgraph.errors import CorpusError, option
from statgraph.law.records import Corpus
from statgraph.progress import Progress, Step

STEP = "round trip"
QUESTIONS_PER_BATCH = 256

# (questions, k) -> for each question the rows of its best k articles
Rank = Callable[[Sequence[str], int], Sequence[np.ndarray]]


def kept_by_round_trip(
    questions: Sequence[SyntheticQuestion],
    rank: Rank,
    *,
    k: int,
    article_rows: Mapping[str, int],
    progress: Progress,
) -> list[SyntheticQuestion]:
    """Return the questions of which at least one article is among the retriever's best `k`, in their order."""
    kept = []
    for start in range(0, len(questions), QUESTIONS_PER_BATCH):
        progress(Step(STEP, start, len(questions)))
        batch = questions[start : start + QUESTIONS_PER_BATCH]
        ranked = rank([question.text for question in batch], k)
        for question, rows in zip(batch, ranked, strict=True):
            if np.isin([article_rows[article_id] for article_id in question.article_ids], rows).any():
                kept.append(question)
    progress(Step(STEP, len(questions), len(questions)))
    return kept


# What a generator goes by, apart from corpus and seed: these settings are in the manifest of its questions.
_SETTINGS = {HEADINGS: "articles_per_heading", SEQ2SEQ: "per_article"}


@dataclass(frozen=True)
class Written:
    """What went into a file: how many questions were `made`, how many `kept`, and for how many `articles`."""

    made: int
    kept: int
    articles: int


@dataclass(frozen=True)
class GenerationOptions:
    """What decides a generation beside its settings, and where it runs.

    `seed` fixes what is drawn. `device`: where a model runs (torch). `progress` is called as it goes on. `limit`: ask
    about the first so many articles only.
    """

    seed: int
    device: Any
    progress: Progress
    limit: int | None = None


def synthetic_questions(
    corpus: Corpus, config: AugmentConfig, options: GenerationOptions, *, partial: Path | None = None
) -> list[SyntheticQuestion]:
    """Return the questions of `config.file`, or of `config.generator` where it is blank.

    Args:
        corpus: what to ask about; its own questions are not looked at.
        partial: where a model's finished batches are kept and taken up again.

    Raises:
        UsageError: for a partial file of other settings.
        ModelError: if the generator's model cannot be loaded.
        CorpusError: if the file is faulty or of another corpus.
    """
    if config.file:
        return list(synthetic_of(Path(config.file), corpus))
    articles = corpus.articles[: options.limit]
    # Looked at for headings too, which need none: what a model has begun is not to be written over.
    finished = PartialFile(partial, _origin(corpus, config, options)) if partial else None
    if config.generator == HEADINGS:
        rng = np.random.default_rng(options.seed)
        return heading_questions(articles, articles_per_heading=config.articles_per_heading, rng=rng)
    return seq2seq_questions(
        articles,
        config.generator.partition(":")[2],
        per_article=config.per_article,
        seed=options.seed,
        device=options.device,
        progress=options.progress,
        partial=finished,
    )


def write_expansion(corpus: Corpus, config: AugmentConfig, out: Path, options: GenerationOptions, *, most: int) -> None:
    """Write a file of questions of which every article is to take its first `most`.

    With the generator `headings` they are those of all headings above an article, nearest first; else as in
    `synthetic_questions`, which raises the same, with at least `most` questions an article. A model's finished batches
    are kept in `OUT.partial`, until the file is whole.
    """
    partial = partial_beside(out)
    if not config.file and config.generator == HEADINGS:
        questions = path_questions(corpus.articles, most=most)
        corpus_facts = _origin(corpus, config, options)["corpus"]
        manifest: dict[str, object] = {"corpus": corpus_facts, "generator": HEADINGS, "statgraph": __version__}
    else:
        enough = replace(config, per_article=max(config.per_article, most))
        questions = synthetic_questions(corpus, enough, options, partial=partial)
        manifest = _manifest(corpus, enough, options)
    write_synthetic(out, questions, {**manifest, "expansion": most})
    partial.unlink(missing_ok=True)


def write_generated(
    corpus: Corpus, config: AugmentConfig, out: Path, options: GenerationOptions, *, rank: Rank | None = None
) -> Written:
    """Return what was written to a new file of synthetic questions.

    A model's finished batches are kept beside it, in `OUT.partial`, until it is whole. The rest is as in
    `synthetic_questions`.

    Args:
        rank: the retriever for the round trip, which keeps a question if one of its articles is among the best
            `config.round_trip`; None keeps all.

    Raises:
        CorpusError: if the file exists.
    """
    if out.exists():
        raise CorpusError(f"{out}: already exists; choose another {option('out')}, or delete it first")
    partial = partial_beside(out)
    made = kept = synthetic_questions(corpus, config, options, partial=partial)
    if rank is not None:
        rows, k = corpus.article_rows, config.round_trip
        kept = kept_by_round_trip(made, rank, k=k, article_rows=rows, progress=options.progress)
    write_synthetic(out, kept, _manifest(corpus, config, options))
    partial.unlink(missing_ok=True)
    return Written(len(made), len(kept), len({article_id for question in kept for article_id in question.article_ids}))


def _origin(corpus: Corpus, config: AugmentConfig, options: GenerationOptions) -> dict[str, object]:
    """Return the corpus, and the file or what decides a generator's questions."""
    about = {"corpus": {"name": corpus.name, "content_hash": corpus.content_hash}}
    if config.file:
        return {**about, "file": config.file}
    setting = _SETTINGS[config.generator.partition(":")[0]]
    decisive = {setting: getattr(config, setting), "seed": options.seed, "limit": options.limit}
    return {**about, "generator": config.generator, **decisive}


def _manifest(corpus: Corpus, config: AugmentConfig, options: GenerationOptions) -> dict[str, object]:
    """Return the first line of a file of synthetic questions."""
    return {**_origin(corpus, config, options), "round_trip": config.round_trip, "statgraph": __version__}
