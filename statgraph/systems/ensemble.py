"""Training an ensemble: its members, the signals beside them, and the ranker over all."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph.artifacts import remove_folder
from statgraph.config import EnsembleConfig, RankerConfig, RunConfig
from statgraph.corpus.query import Ranked
from statgraph.corpus.records import MAIN_SET, Corpus, Question
from statgraph.corpus.structure import Structure
from statgraph.distributed import SINGLE, in_world
from statgraph.encoders.backbones import is_static
from statgraph.errors import UsageError
from statgraph.evaluation.metrics import QUALITY, question_metrics
from statgraph.ranking.ensemble import Ensemble
from statgraph.ranking.features import Features
from statgraph.ranking.learnt import Learning, learn, ranked
from statgraph.runs.article_store import write_article_store
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.runs.run import CorpusFacts, Run
from statgraph.search.ensemble_run import (
    member_folders,
    member_signals,
    other_signals,
    read_ensemble,
    taken_over,
    write_ranker,
    write_signals,
    write_trees,
)
from statgraph.signals.signal import SignalSource
from statgraph.systems.job import Job, StepClock, TrainingOptions
from statgraph.systems.presets import member_config

# Of another system's training: corpus, configuration, folder, options.
TrainMember = Callable[[Corpus, RunConfig, Path, TrainingOptions], Run]
# Training questions: with fewer, members trained without a fold are too unlike the others, and trained heads of a
# transformer were not tried.
_ENOUGH_TO_FOLD = 300
_DEPTH = 500  # candidates of a question that a ranker learns from, at least


def for_corpus(config: RunConfig, corpus: Corpus) -> RunConfig:
    """Return the configuration of an ensemble with members that can be trained on a corpus.

    Without training questions, members that learn from them are left out; with fewer than 300, of the default members
    the one that trains a transformer. If no other is left, they give place to ones that learn from the law itself
    (system `structure`), which add nothing beside a zero-shot transformer (docs/ranking.md); of a law without headings,
    to none.
    """
    n_questions = len(corpus.split("train"))
    are_default = config.ensemble.members == EnsembleConfig().members
    if not config.is_ensemble or n_questions >= (_ENOUGH_TO_FOLD if are_default else 1):
        return config
    configs = {name: member_config(config, name) for name in config.ensemble.members}
    members = [
        name
        for name, member in configs.items()
        if not _learns_from_questions(member) or (n_questions and is_static(member.encoder.backbone))
    ]
    if not members and any(len(article.path) > 1 for article in corpus.articles):
        members = list(dict.fromkeys(f"structure@{member.encoder.backbone}" for member in configs.values()))
    return replace(config, ensemble=replace(config.ensemble, members=tuple(members)))


def _learns_from_questions(member: RunConfig) -> bool:
    return not member.from_law and bool(member.stage1.epochs or member.stage2.epochs)


def train_ensemble(job: Job, train_member: TrainMember) -> FoundOnDev | None:
    """Train the members, then write the other signals, the law's structure and the ranker into the run folder.

    Returns the rankings of the dev questions, of trees that have not learnt from them; None without dev questions, and
    of several processes for all but the first.

    Raises:
        UsageError: if a member cannot be trained, or the ranker has no questions to learn from that it must have.
    """
    corpus, config = job.corpus, job.config
    run = Run(job.folder, config, CorpusFacts.of(corpus))
    for name, folder in member_folders(run).items():
        with job.clock.step(f"member {name}"):
            final = job.options.final
            followed = Run.read(member_folders(final)[name]) if final is not None else None
            member_job = replace(job, options=replace(job.options, final=followed))
            _train_member(member_job, name, folder, train_member)
    if not job.world.is_first:
        return None
    with in_world(SINGLE):  # the others have left
        write_parts(run, corpus, job.clock)
        with job.clock.step("ranker"):
            run.trees.unlink(missing_ok=True)
            if job.options.final is not None:
                job.options.announce(taken_over(job.options.final, run))
                return None
            ensemble = read_ensemble(run, len(corpus.articles), device=config.device)
            on_dev = _found(ensemble, corpus.split("dev"))
            rankings = _learn_ranker(job, run, ensemble, on_dev, train_member)
        return _told_apart(job, ensemble, on_dev, rankings) if on_dev else None


def write_parts(run: Run, corpus: Corpus, clock: StepClock, *, of_same_law: Run | None = None) -> None:
    """Write what an ensemble has beside its trained members and what its ranker has learnt; what depends on the
    articles alone is copied from `of_same_law`, a run of the same articles and settings, if there is one."""
    with clock.step("signals and structure"):
        questions = corpus.split("train")
        members = list(member_signals(run, device=run.config.device))
        source = SignalSource(
            corpus.articles,
            corpus.language,
            run.config,
            questions,
            corpus.usable_citing(),
            members,
            of_same_law.signals if of_same_law is not None else None,
        )
        write_signals(run, source)
        if of_same_law is None:
            Structure.of(corpus.articles).write(run.structure)
        else:
            shutil.copyfile(of_same_law.structure, run.structure)
        write_ranker(run, [*other_signals(run, members), *members], len(questions))


def _train_member(job: Job, name: str, folder: Path, train_member: TrainMember) -> None:
    # As the first of several processes sees it, before it begins: the others may come to a folder where it has begun.
    finished, unfinished = job.world.json_from_first(lambda: [is_finished(folder), is_unfinished(folder)])
    if finished:
        return
    config = member_config(job.config, name)
    options = replace(job.options, resume=unfinished)
    train_member(job.corpus, config, folder, options)


def _found(ensemble: Ensemble, questions: Sequence[Question]) -> list[Features]:
    """Return the candidates of questions with their features."""
    return list(ensemble.features([question.text for question in questions], _DEPTH)) if questions else []


def _learn_ranker(
    job: Job, run: Run, ensemble: Ensemble, on_dev: list[Features], train_member: TrainMember
) -> list[np.ndarray] | None:
    """Learn the trees, write them and give them to the ensemble, unless questions that they have not seen are no better
    off by them.

    Returns how the dev questions are ranked without having been learnt from; None as the run ranks them.
    """
    config, corpus = run.config.ranker, job.corpus
    if config.kind == "fixed":
        return None
    learn_from = learns_from(config, corpus)
    from_dev = learn_from == "dev"
    lessons = _from_dev(corpus, ensemble, on_dev) if from_dev else _cross_fitted(job, run, train_member)
    if not lessons.questions:
        if config.kind == "lambdamart":
            raise UsageError(
                f"ranker.kind: lambdamart learns from questions ({learn_from}), and {corpus.name} has none; use "
                "auto or fixed"
            )
        return None
    labels = corpus.label_rows(lessons.questions)

    def measure(rankings: list[np.ndarray]) -> np.ndarray:
        return question_metrics(rankings, labels, len(corpus.articles))[QUALITY]

    learning = learn(
        lessons.found, labels, ensemble.fixed, config, measure, groups=lessons.groups, seed=run.config.seed
    )
    if learning.ranker is not None:
        write_trees(run, learning.ranker, "dev" if from_dev else "train")
        ensemble.ranker = learning.ranker
    for folder in _fold_folders(job):
        remove_folder(folder)
    job.options.announce(_told(learning, len(lessons.questions), learn_from))
    return ranked(on_dev, learning.held_out[: len(on_dev)]) if from_dev else None


def learns_from(config: RankerConfig, corpus: Corpus) -> str:
    """Return what the trees of an ensemble learn from on a corpus: dev or cross-fit."""
    if config.learn_from != "auto":
        return config.learn_from
    return "cross-fit" if len(corpus.split("train")) >= _ENOUGH_TO_FOLD else "dev"


@dataclass(frozen=True, eq=False)
class _Lessons:
    """What trees learn from: questions, their candidates' features by signals that have not seen them, and their
    groups: questions about one document are in the same."""

    questions: Sequence[Question]
    found: Sequence[Features]
    groups: Sequence[int]


def questions_to_learn_from(corpus: Corpus, split: str) -> tuple[list[Question], list[int]]:
    """Return the questions of a split with their groups: first those of the main set, then of each other set as many
    at most, so that what is learnt is not one way of asking and labelling.

    A question of another set that is a citing text too (the same id) is in the group of that text's question.
    """
    main = corpus.split(split)
    group = {question.question_id: place for place, question in enumerate(main)}
    questions, groups = list(main), list(range(len(main)))
    for name in corpus.question_sets:
        others = corpus.split(split, name) if name != MAIN_SET else ()
        for question in others[:: math.ceil(len(others) / max(1, len(main)))] if others else ():
            questions.append(question)
            groups.append(group.setdefault(corpus.owners.get(question.question_id, question.question_id), len(group)))
    return questions, groups


def _from_dev(corpus: Corpus, ensemble: Ensemble, on_dev: list[Features]) -> _Lessons:
    """Return the dev questions, those of the main set first."""
    questions, groups = questions_to_learn_from(corpus, "dev")
    return _Lessons(questions, on_dev + _found(ensemble, questions[len(on_dev) :]), groups)


def _cross_fitted(job: Job, run: Run, train_member: TrainMember) -> _Lessons:
    """Return the training questions, each with features by signals that were made without its group."""
    train, groups = questions_to_learn_from(job.corpus, "train")
    found: dict[str, Features] = {}
    for part, held_out in fold_runs(job, run, train_member):
        of_fold = _found(read_ensemble(part, len(job.corpus.articles), device=run.config.device), held_out)
        found |= {question.question_id: features for question, features in zip(held_out, of_fold, strict=True)}
    return _Lessons(train, [found[question.question_id] for question in train], groups)


def fold_runs(job: Job, run: Run, train_member: TrainMember) -> Iterator[tuple[Run, list[Question]]]:
    """Yield for each fold of the training questions (the run of an ensemble made without them, the questions); members
    are trained as far as their folders are not there."""
    corpus, ranker = job.corpus, run.config.ranker
    train, groups = questions_to_learn_from(corpus, "train")
    fold_of = {question.question_id: group % ranker.folds for question, group in zip(train, groups, strict=True)}
    for fold, folder_of_fold in enumerate(_fold_folders(job)):
        ids = {
            question.question_id
            for question in corpus.questions
            if fold in (fold_of.get(question.question_id), fold_of.get(corpus.owners.get(question.question_id, "")))
        }
        held_out = [question for question in train if question.question_id in ids]
        if not held_out:
            continue
        # As a test question, it and its citing texts are used for nothing.
        seen = replace(
            corpus,
            questions=tuple(replace(q, split="test") if q.question_id in ids else q for q in corpus.questions),
        )
        part = replace(run, folder=folder_of_fold)
        # The first of several processes is alone here.
        fold_job = replace(job, corpus=seen, folder=part.folder, options=replace(job.options, world=SINGLE))
        for (name, folder), whole in zip(member_folders(part).items(), member_folders(run).values(), strict=True):
            if _learns_from_questions(member_config(run.config, name)):
                with in_world(SINGLE):
                    _train_member(fold_job, name, folder, train_member)
            elif not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.symlink_to(whole.resolve())
        write_article_store(seen.articles, part.folder)
        write_parts(part, seen, job.clock, of_same_law=run)
        yield part, held_out


def _fold_folders(job: Job) -> list[Path]:
    """Return where the members of each fold are trained; they stay until the trees are written, so that a killed
    training need not train them again."""
    return [job.folder / f"fold-{fold}" for fold in range(job.config.ranker.folds)]


@dataclass(frozen=True)
class FoundOnDev:
    """How an ensemble ranks the dev questions: what `evaluate_split` asks of a retriever."""

    rankings: list[np.ndarray]

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the ranking of each dev question, without scores."""
        return [Ranked(rows[:k], np.zeros(0, dtype=np.float32)) for rows in self.rankings]


def _told_apart(job: Job, ensemble: Ensemble, on_dev: list[Features], rankings: list[np.ndarray] | None) -> FoundOnDev:
    """Return the rankings of the dev questions, and announce how they compare with those of each signal alone."""
    labels = job.corpus.label_rows(job.corpus.split("dev"))

    def quality(rows: list[np.ndarray]) -> float:
        return 100 * float(question_metrics(rows, labels, len(job.corpus.articles))[QUALITY].mean())

    if rankings is None:
        rankings = ranked(on_dev, [ensemble.ranker.scores(found) for found in on_dev])
    alone = {
        signal.name: quality(ranked(on_dev, [found.column(signal.name, "score") for found in on_dev]))
        for signal in ensemble.signals
    }
    best = max(alone, key=alone.get)
    reached = quality(rankings)
    job.options.announce(
        f"dev quality {reached:.1f}; the best signal alone, {best}: {alone[best]:.1f}"
        + ("" if reached > alone[best] else f"; WARNING: no better than {best}, which is simpler")
    )
    return FoundOnDev(rankings)


def _told(learning: Learning, n_questions: int, source: str) -> str:
    gain, error = (100 * value for value in learning.gain)
    of = f"on {n_questions} {'dev' if source == 'dev' else 'training'} questions, held out"
    if learning.ranker is None:
        return f"ranker fixed weights: trees did not gain {of} ({gain:+.1f} +- {error:.1f} quality)"
    return f"ranker {learning.trees} trees on top of fixed weights: {gain:+.1f} +- {error:.1f} quality {of}"
