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
from statgraph.errors import CorpusError, UsageError, option
from statgraph.law.records import Corpus
from statgraph.progress import Progress, Step
from statgraph.settings import check_setting

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

    `seed` fixes what is drawn. `device`: where a model runs (torch). `progress` is called as it goes on. `rank`:
    the retriever for `augment.round_trip`, (questions, k) -> article rows of each. `limit`: ask about the first so many
    articles only.
    """

    seed: int
    device: Any
    progress: Progress
    rank: Rank | None = None
    limit: int | None = None


def synthetic_questions(
    corpus: Corpus, config: AugmentConfig, options: GenerationOptions, *, partial: Path | None = None
) -> list[SyntheticQuestion]:
    """Return the questions of `config.file`, or of `config.generator` where it is blank.

    Args:
        corpus: what to ask about; its own questions are not looked at.
        partial: where a model's finished batches are kept and taken up again.

    Raises:
        UsageError: for an unknown generator, a round trip without a retriever, a partial file of other settings.
        ModelError: if the generator's model cannot be loaded.
        CorpusError: if the file is faulty or of another corpus.
    """
    _, kept = _made_and_kept(corpus, config, options, partial)
    return kept


def write_expansion(corpus: Corpus, config: AugmentConfig, out: Path, options: GenerationOptions, *, most: int) -> None:
    """Write a file of questions of which every article is to take its first `most`.

    With the generator `headings` they are those of all headings above an article, nearest first; else as in
    `synthetic_questions`, which raises the same, with at least `most` questions an article. A model's finished batches
    are kept in `OUT.partial`, until the file is whole.
    """
    _check_round_trip(config, options.rank)
    partial = partial_beside(out)
    if not config.file and _kind(config) == HEADINGS:
        questions = path_questions(corpus.articles, most=most)
        origin = _origin(corpus, config, options)
        manifest = {"corpus": origin["corpus"], "generator": HEADINGS, "statgraph": __version__}
    else:
        enough = replace(config, per_article=max(config.per_article, most))
        questions = synthetic_questions(corpus, enough, options, partial=partial)
        manifest = _manifest(corpus, enough, options)
    write_synthetic(out, questions, {**manifest, "expansion": most})
    partial.unlink(missing_ok=True)


def write_generated(corpus: Corpus, config: AugmentConfig, out: Path, options: GenerationOptions) -> Written:
    """Return what was written to a new file of synthetic questions.

    A model's finished batches are kept beside it, in `OUT.partial`, until it is whole. The rest is as in
    `synthetic_questions`.

    Raises:
        CorpusError: if the file exists.
    """
    if out.exists():
        raise CorpusError(f"{out}: already exists; choose another {option('out')}, or delete it first")
    partial = partial_beside(out)
    n_made, kept = _made_and_kept(corpus, config, options, partial)
    write_synthetic(out, kept, _manifest(corpus, config, options))
    partial.unlink(missing_ok=True)
    return Written(n_made, len(kept), len({article_id for question in kept for article_id in question.article_ids}))


def _made_and_kept(
    corpus: Corpus, config: AugmentConfig, options: GenerationOptions, partial: Path | None
) -> tuple[int, list[SyntheticQuestion]]:
    """Return how many questions there are, and those that the round trip keeps."""
    _check_round_trip(config, options.rank)
    if config.file:
        questions = list(synthetic_of(Path(config.file), corpus))
    else:
        kind, articles = _kind(config), corpus.articles[: options.limit]
        # Looked at for headings too, which need none: what a model has begun is not to be written over.
        finished = PartialFile(partial, _origin(corpus, config, options)) if partial else None
        if kind == HEADINGS:
            rng = np.random.default_rng(options.seed)
            questions = heading_questions(articles, articles_per_heading=config.articles_per_heading, rng=rng)
        else:
            questions = seq2seq_questions(
                articles,
                config.generator.partition(":")[2],
                per_article=config.per_article,
                seed=options.seed,
                device=options.device,
                progress=options.progress,
                partial=finished,
            )
    if not config.round_trip:
        return len(questions), questions
    assert options.rank is not None  # `_check_round_trip` raises without one
    rows, progress = corpus.article_rows, options.progress
    kept = kept_by_round_trip(questions, options.rank, k=config.round_trip, article_rows=rows, progress=progress)
    return len(questions), kept


def _check_round_trip(config: AugmentConfig, rank: Rank | None) -> None:
    if config.round_trip and rank is None:
        raise UsageError(
            f"augment.round_trip: {config.round_trip} needs a finished run; filter with 'statgraph augment "
            "--round-trip K --run RUN --out FILE', then set augment.file=FILE and augment.round_trip=0"
        )


def _kind(config: AugmentConfig) -> str:
    """Return `headings` or `seq2seq`.

    Raises:
        UsageError: if there is no such generator.
    """
    check_setting(AugmentConfig, "generator", config.generator, place="augment.generator")
    return config.generator.partition(":")[0]


def _origin(corpus: Corpus, config: AugmentConfig, options: GenerationOptions) -> dict[str, object]:
    """Return the corpus, and the file or what decides a generator's questions."""
    about = {"corpus": {"name": corpus.name, "content_hash": corpus.content_hash}}
    if config.file:
        return {**about, "file": config.file}
    setting = _SETTINGS[_kind(config)]
    decisive = {setting: getattr(config, setting), "seed": options.seed, "limit": options.limit}
    return {**about, "generator": config.generator, **decisive}


def _manifest(corpus: Corpus, config: AugmentConfig, options: GenerationOptions) -> dict[str, object]:
    """Return the first line of a file of synthetic questions."""
    origin = _origin(corpus, config, options)
    return {**origin, "round_trip": config.round_trip, "statgraph": __version__}
