"""From a corpus to synthetic questions: by whichever generator, or from a file, filtered where that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import __version__
from statgraph.augmentation.headings import HEADINGS, heading_questions, path_questions
from statgraph.augmentation.partial import PartialFile
from statgraph.augmentation.records import SyntheticQuestion
from statgraph.augmentation.round_trip import Rank, kept_by_round_trip
from statgraph.augmentation.seq2seq import SEQ2SEQ, seq2seq_questions
from statgraph.augmentation.store import synthetic_of, write_synthetic
from statgraph.config import AugmentConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import CorpusError, UsageError

# What a generator goes by, apart from corpus and seed: these settings are in the manifest of its questions.
_SETTINGS = {HEADINGS: "articles_per_heading", SEQ2SEQ: "per_article"}
_CHOICES = f"{HEADINGS}, {SEQ2SEQ}:MODEL"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Written:
    """What went into a file: how many questions were `made`, how many `kept`, and for how many `articles`."""

    made: int
    kept: int
    articles: int


def generator_kind(name: str) -> str:
    """Return `headings` or `seq2seq`.

    Raises:
        UsageError: if the name is no generator's.
    """
    kind, _, model = name.partition(":")
    if name == HEADINGS or (kind == SEQ2SEQ and model):
        return kind
    if kind == SEQ2SEQ:
        raise UsageError(f"generator '{name}' names no model; write it like {SEQ2SEQ}:FOLDER or {SEQ2SEQ}:HUB/NAME")
    raise UsageError(f"generator '{name}' is not known; choose from {_CHOICES}")


def synthetic_questions(
    corpus: Corpus,
    config: AugmentConfig,
    *,
    seed: int,
    device,
    progress: Progress,
    partial: Path | None = None,
    rank: Rank | None = None,
    limit: int | None = None,
) -> list[SyntheticQuestion]:
    """Return the questions of `config.file`, or of `config.generator` where it is blank.

    Args:
        corpus: what to ask about; its own questions are not looked at.
        seed: fixes what is drawn.
        device: where a model runs (torch).
        progress: told (what, done, total).
        partial: where a model's finished batches are kept and taken up again.
        rank: the retriever for `config.round_trip`: (questions, k) -> article rows of each.
        limit: ask about the first so many articles only.

    Raises:
        UsageError: for an unknown generator, a round trip without a retriever, a partial file of other settings.
        ModelError: if the generator's model cannot be loaded.
        CorpusError: if the file is faulty or of another corpus.
    """
    _check(config, rank)
    if config.file:
        questions = list(synthetic_of(Path(config.file), corpus))
    else:
        questions = _generated(
            corpus, config, seed=seed, device=device, progress=progress, partial=partial, limit=limit
        )
    return _filtered(questions, corpus, config, rank, progress)


def write_expansion(
    corpus: Corpus, config: AugmentConfig, out: Path, *, most: int, seed: int, device, progress: Progress
) -> None:
    """Write a file of questions of which every article is to take its first `most`.

    With the generator `headings` they are those of all headings above an article, nearest first; else as in
    `synthetic_questions`, which raises the same, with at least `most` questions an article. A model's finished batches
    are kept in `OUT.partial`, until the file is whole.
    """
    _check(config, rank=None)
    partial = partial_beside(out)
    if not config.file and generator_kind(config.generator) == HEADINGS:
        questions = path_questions(corpus.articles, most=most)
        manifest = {**_corpus_of(corpus), "generator": HEADINGS, "statgraph": __version__}
    else:
        enough = replace(config, per_article=max(config.per_article, most))
        questions = synthetic_questions(corpus, enough, seed=seed, device=device, progress=progress, partial=partial)
        manifest = _manifest(corpus, enough, seed=seed)
    write_synthetic(out, questions, {**manifest, "expansion": most})
    partial.unlink(missing_ok=True)


def write_generated(
    corpus: Corpus,
    config: AugmentConfig,
    out: Path,
    *,
    seed: int,
    device,
    progress: Progress,
    rank: Rank | None = None,
    limit: int | None = None,
) -> Written:
    """Return what was written to a new file of synthetic questions.

    A model's finished batches are kept beside it, in `OUT.partial`, until it is whole. The rest is as in
    `synthetic_questions`.

    Raises:
        CorpusError: if the file exists.
    """
    _check(config, rank)
    if out.exists():
        raise CorpusError([f"{out}: exists already; choose another --out, or delete it to write it anew"])
    partial = partial_beside(out)
    made = _generated(corpus, config, seed=seed, device=device, progress=progress, partial=partial, limit=limit)
    kept = _filtered(made, corpus, config, rank, progress)
    write_synthetic(out, kept, _manifest(corpus, config, seed=seed, limit=limit))
    partial.unlink(missing_ok=True)
    return Written(len(made), len(kept), len({article_id for question in kept for article_id in question.article_ids}))


def partial_beside(path: Path) -> Path:
    """Return where the finished batches of a file to come are kept."""
    return path.with_name(f"{path.name}.partial")


def _generated(
    corpus: Corpus,
    config: AugmentConfig,
    *,
    seed: int,
    device,
    progress: Progress,
    partial: Path | None,
    limit: int | None,
) -> list[SyntheticQuestion]:
    """Return what the generator makes of the first `limit` articles."""
    articles = corpus.articles[:limit]
    about = {**_corpus_of(corpus), **_settings(config, seed=seed, limit=limit)}
    # Looked at for headings too, which need none: what a model has begun is not to be written over.
    finished = PartialFile(partial, about) if partial else None
    if generator_kind(config.generator) == HEADINGS:
        rng = np.random.default_rng(seed)
        return heading_questions(articles, articles_per_heading=config.articles_per_heading, rng=rng)
    return seq2seq_questions(
        articles,
        config.generator.partition(":")[2],
        per_article=config.per_article,
        seed=seed,
        device=device,
        progress=progress,
        partial=finished,
    )


def _manifest(corpus: Corpus, config: AugmentConfig, *, seed: int, limit: int | None = None) -> dict[str, object]:
    """Return what a file of synthetic questions says of itself on its first line."""
    origin = {"file": config.file} if config.file else _settings(config, seed=seed, limit=limit)
    return {**_corpus_of(corpus), **origin, "round_trip": config.round_trip, "statgraph": __version__}


def _check(config: AugmentConfig, rank: Rank | None) -> None:
    if not config.file:
        generator_kind(config.generator)
    if config.round_trip and rank is None:
        raise UsageError(
            f"augment.round_trip: {config.round_trip} asks for a finished run; filter with 'statgraph augment "
            "--round-trip K --run RUN --out FILE', then set augment.file=FILE and augment.round_trip=0"
        )


def _filtered(
    questions: list[SyntheticQuestion], corpus: Corpus, config: AugmentConfig, rank: Rank | None, progress: Progress
) -> list[SyntheticQuestion]:
    """Return the questions that the round trip keeps."""
    if not config.round_trip:
        return questions
    return kept_by_round_trip(questions, rank, k=config.round_trip, article_rows=corpus.article_rows, progress=progress)


def _corpus_of(corpus: Corpus) -> dict[str, object]:
    return {"corpus": {"name": corpus.name, "content_hash": corpus.content_hash}}


def _settings(config: AugmentConfig, *, seed: int, limit: int | None) -> dict[str, object]:
    """Return what decides a generator's questions."""
    setting = _SETTINGS[generator_kind(config.generator)]
    return {"generator": config.generator, setting: asdict(config)[setting], "seed": seed, "limit": limit}
