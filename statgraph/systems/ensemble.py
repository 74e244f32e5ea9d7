"""Training an ensemble: its members, the signals beside them, and the ranker over all."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.distributed import SINGLE, in_world
from statgraph.encoders.inference.frozen_questions import questions_kept
from statgraph.errors import UsageError
from statgraph.law.query import Ranked
from statgraph.law.records import Corpus, Question
from statgraph.progress import Progress, silent
from statgraph.registry import SIGNALS
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.features import Features
from statgraph.retrieval.ranking.fixed import signal_weights
from statgraph.retrieval.ranking.learnt import Learning, ranked
from statgraph.retrieval.ranking.long_questions import is_long
from statgraph.retrieval.search.ensemble_run import (
    KEEPS_FIRST,
    LEARNT_FROM,
    WHOLES,
    member_folders,
    member_signals,
    other_signals,
    ranker_entries,
    read_ensemble,
    trees_entries,
)
from statgraph.retrieval.signals.centring import write_centres
from statgraph.retrieval.signals.maxsim import MaxSimSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, Signal, SignalSource
from statgraph.runs.article_store import write_article_store
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.calibrating import calibrate
from statgraph.systems.job import Job, StepClock
from statgraph.systems.learning import (
    ENOUGH_TO_LEAD,
    FACTORS,
    LEADS,
    candidates_of,
    leading_signal,
    learning_of,
    learns_from,
    measure_of,
    questions_to_learn_from,
    read_leads,
)
from statgraph.systems.presets import learns_from_questions, member_config


def train_ensemble(job: Job) -> DevRankings | None:
    """Train the members, then write the other signals, the law's structure and the ranker into the run folder.

    Returns the rankings of the dev questions, of trees that have not learnt from them; None without dev questions, and
    of several processes for all but the first.

    Raises:
        UsageError: if a member cannot be trained, or the ranker has no questions to learn from that it must have.
    """
    corpus, config, final = job.corpus, job.config, job.options.final
    run = RunFolder(job.folder, config, CorpusFacts.of(corpus))
    for name, folder in member_folders(run).items():
        with job.clock.step(f"member {name}"):
            followed = RunFolder.read(member_folders(final)[name]) if final is not None else None
            _train_member(replace(job, options=replace(job.options, final=followed)), name, folder)
    if not job.world.is_first:
        return None
    job = replace(job, world=SINGLE)  # the other processes have left
    with in_world(SINGLE), questions_kept():
        leads = read_leads(final) if final is not None else {}
        write_parts(run, corpus, job.clock, leads=leads, progress=job.options.progress)
        with job.clock.step("ranker"):
            run.trees.unlink(missing_ok=True)
            if final is not None:
                job.options.announce(_copy_trees(final, run))
                if final.calibration.is_file():
                    shutil.copyfile(final.calibration, run.calibration)
                return None
            ensemble = read_ensemble(run, len(corpus.articles), device=config.device)
            dev_candidates = candidates_of(ensemble, corpus.split("dev"))
            if len(dev_candidates) >= ENOUGH_TO_LEAD and run.config.ranker.kind != "fixed":
                ensemble, dev_candidates = _led(job, run, ensemble, dev_candidates)
            dev_scores = _learn_ranker(job, run, ensemble, dev_candidates)
            if dev_scores is None:
                dev_scores = [ensemble.ranker.scores(candidates) for candidates in dev_candidates]
        with job.clock.step("calibration"):
            calibrate(job, run, ensemble, dev_candidates, dev_scores)
        return _compare_with_signals(job, ensemble, dev_candidates, dev_scores) if dev_candidates else None


def write_parts(
    run: RunFolder,
    corpus: Corpus,
    clock: StepClock,
    *,
    reuse_from: RunFolder | None = None,
    leads: Mapping[str, float],
    progress: Progress = silent,
) -> None:
    """Write what an ensemble has beside its trained members and what its ranker has learnt; what depends on the law
    alone is copied from `reuse_from`, a run of the same articles and settings. `leads` multiply signals' weights."""
    with clock.step("signals"), questions_kept():
        questions = corpus.split("train")
        members = list(member_signals(run, device=run.config.device))
        source = SignalSource(
            corpus.articles,
            corpus.language,
            run.config,
            questions,
            corpus.usable_citing(),
            members,
            reuse_from.signals if reuse_from is not None else None,
            progress,
        )
        with artifacts.replaced_folder(run.signals) as staging:
            for name in run.config.ensemble.signals:
                (staging / name).mkdir()
                if not SIGNALS.load(name).write(source, staging / name):  # nothing to say about this law
                    (staging / name).rmdir()
            share, untrained = run.config.ensemble.centring, [each for each in members if each.kind == ZERO_SHOT]
            if share and untrained:
                texts, by_token = [question.text for question in questions], (staging / MaxSimSignal.name).is_dir()
                write_centres(untrained, texts, share, staging, tokens=by_token)
        _write_weights(run, questions, [*other_signals(run, members), *members], leads)


def _write_weights(
    run: RunFolder, questions: Sequence[Question], signals: Sequence[Signal], leads: Mapping[str, float]
) -> None:
    weights = signal_weights(signals, len(questions))
    entry = {
        signal.name: round(float(weight) * leads.get(signal.name, 1.0), 4)
        for signal, weight in zip(signals, weights, strict=True)
    }
    n_long = sum(is_long(question.text) for question in questions)
    artifacts.write_json(run.ranker, {"weights": entry, WHOLES: 2 * n_long > len(questions), LEADS: dict(leads)})


def write_trees_entries(run: RunFolder, entries: Mapping[str, object]) -> None:
    """Write into the ranker's file what `trees_entries` returns of a run's trees."""
    artifacts.write_json(run.ranker, {**ranker_entries(run.ranker), **entries})


def _copy_trees(source: RunFolder, run: RunFolder) -> str:
    """Give a run the trees of another whose signals are the same, and return in words what ranks now."""
    entries = trees_entries(source)
    if entries is None:
        return f"ranker fixed weights, as {source.folder}"
    if list(ranker_entries(source.ranker)["weights"]) != list(ranker_entries(run.ranker)["weights"]):
        return f"ranker fixed weights: the signals are not those whose trees {source.folder} has"
    shutil.copyfile(source.trees, run.trees)
    write_trees_entries(run, entries)
    return f"ranker with the trees of {source.folder}"


def _train_member(job: Job, name: str, folder: Path) -> None:
    # As the first of several processes sees it, before it begins: the others may come to a folder where it has begun.
    finished, unfinished = job.world.json_from_first(lambda: [is_finished(folder), is_unfinished(folder)])
    if not finished:
        options = replace(job.options, resume=unfinished, measured=False)
        assert job.train is not None
        job.train(job.corpus, member_config(job.config, name), folder, options)


def _led(
    job: Job, run: RunFolder, ensemble: Ensemble, dev_candidates: list[Features]
) -> tuple[Ensemble, list[Features]]:
    """Return the ensemble and its candidates for the dev questions with the weight of a signal raised until the fixed
    ranker is not worse than it alone."""
    measure = measure_of(job.corpus, job.corpus.split("dev"))
    leader = leading_signal(ensemble, dev_candidates, measure)
    if leader is None:
        return ensemble, dev_candidates
    name, alone, together = leader
    for factor in FACTORS:
        _write_weights(run, job.corpus.split("train"), ensemble.signals, {name: factor})
        ensemble = read_ensemble(run, len(job.corpus.articles), device=run.config.device)
        dev_candidates = candidates_of(ensemble, job.corpus.split("dev"))
        if leading_signal(ensemble, dev_candidates, measure) is None or factor == FACTORS[-1]:
            job.options.announce(
                f"{name} leads, with {factor:.0f} times its weight: alone it is better than all signals together "
                f"(ranking quality {100 * alone:.1f} and {100 * together:.1f} on dev)"
            )
            break
    return ensemble, dev_candidates


def _learn_ranker(
    job: Job, run: RunFolder, ensemble: Ensemble, dev_candidates: list[Features]
) -> list[np.ndarray] | None:
    """Learn the trees, write them and give them to the ensemble, unless questions that they have not seen are no better
    off by them.

    Returns the scores of each dev question's candidates without having been learnt from; None for the run's own.
    """
    config, corpus = run.config.ranker, job.corpus
    if config.kind == "fixed":
        return None
    source = learns_from(config, corpus)
    split = "dev" if source == "dev" else "train"
    questions, _ = questions_to_learn_from(corpus, split)
    if not questions:
        if config.kind == "lambdamart":
            raise UsageError(
                f"ranker.kind: lambdamart learns from questions ({source}), and {corpus.name} has none; use "
                "auto or fixed"
            )
        return None
    if split == "dev":
        candidates = dev_candidates + candidates_of(ensemble, questions[len(dev_candidates) :])
    else:
        candidates = _cross_fitted(job, run, questions)
    learning = learning_of(corpus, run.config, ensemble, candidates, dev_candidates)
    if learning.ranker is not None:
        learning.ranker.write(run.trees)
        write_trees_entries(run, {LEARNT_FROM: split, KEEPS_FIRST: learning.ranker.keeps_first})
        ensemble.ranker = learning.ranker
    for folder in _fold_folders(job):
        artifacts.remove_folder(folder)
    job.options.announce(_training_summary(learning, len(questions), split))
    return learning.held_out[: len(dev_candidates)] if split == "dev" else None


def _cross_fitted(job: Job, run: RunFolder, questions: Sequence[Question]) -> list[Features]:
    """Return the candidates of the training questions, each by signals that were made without its group."""
    candidates: dict[str, Features] = {}
    for part, held_out in fold_runs(job, run):
        features = candidates_of(read_ensemble(part, len(job.corpus.articles), device=run.config.device), held_out)
        candidates |= {question.question_id: known for question, known in zip(held_out, features, strict=True)}
    return [candidates[question.question_id] for question in questions]


def fold_runs(job: Job, run: RunFolder) -> Iterator[tuple[RunFolder, list[Question]]]:
    """Yield for each fold of the training questions (the run of an ensemble made without them, the questions); members
    are trained as far as their folders are not there."""
    corpus, ranker = job.corpus, run.config.ranker
    train, groups = questions_to_learn_from(corpus, "train")
    fold_of = {question.question_id: group % ranker.folds for question, group in zip(train, groups, strict=True)}
    for fold, fold_folder in enumerate(_fold_folders(job)):
        ids = {
            question.question_id
            for question in corpus.questions
            if fold in (fold_of.get(question.question_id), fold_of.get(corpus.owners.get(question.question_id, "")))
        }
        held_out = [question for question in train if question.question_id in ids]
        if not held_out:
            continue
        seen, part = corpus.holding_out(ids), replace(run, folder=fold_folder)
        for (name, folder), whole in zip(member_folders(part).items(), member_folders(run).values(), strict=True):
            if learns_from_questions(member_config(run.config, name)):
                options = replace(job.options, fold_of=RunFolder.read(whole))
                _train_member(replace(job, corpus=seen, folder=part.folder, options=options), name, folder)
            elif not folder.exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                folder.symlink_to(whole.resolve())
        write_article_store(seen.articles, part.folder)
        write_parts(part, seen, StepClock(), reuse_from=run, leads=read_leads(run))
        yield part, held_out


def _fold_folders(job: Job) -> list[Path]:
    """Return where the members of each fold are trained; they stay until the trees are written, so that a killed
    training need not train them again."""
    return [job.folder / f"fold-{fold}" for fold in range(job.config.ranker.folds)]


@dataclass(frozen=True)
class DevRankings:
    """How an ensemble ranks the dev questions: what `evaluate_split` asks of a retriever."""

    rankings: list[np.ndarray]

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the ranking of each dev question, without scores."""
        return [Ranked(rows[:k], np.zeros(0, dtype=np.float32)) for rows in self.rankings]


def _compare_with_signals(
    job: Job, ensemble: Ensemble, dev_candidates: list[Features], dev_scores: list[np.ndarray]
) -> DevRankings:
    """Return the rankings of the dev questions, and announce how they compare with those of each signal alone."""
    measure = measure_of(job.corpus, job.corpus.split("dev"))

    def quality(rows: list[np.ndarray]) -> float:
        return 100 * float(measure(rows).mean())

    rankings, alone = ranked(dev_candidates, dev_scores), {}
    for signal in ensemble.signals:
        scores = [candidates.column(signal.name, "score") for candidates in dev_candidates]
        alone[signal.name] = quality(ranked(dev_candidates, scores))
    best = max(alone, key=alone.__getitem__)
    reached = quality(rankings)
    job.options.announce(
        f"dev ranking quality {reached:.1f}; the best signal alone, {best}: {alone[best]:.1f}"
        + ("" if reached > alone[best] else f"; WARNING: no better than {best}, which is simpler")
    )
    return DevRankings(rankings)


def _training_summary(learning: Learning, n_questions: int, split: str) -> str:
    gain, error = (100 * value for value in learning.gain)
    of = f"on {n_questions} {'dev' if split == 'dev' else 'training'} questions, held out"
    if learning.ranker is None:
        return f"ranker fixed weights: trees did not gain {of} ({gain:+.1f} +- {error:.1f} ranking quality)"
    below = ", whose three best stay first" if learning.ranker.keeps_first else ""
    return (
        f"ranker {learning.trees} trees on top of fixed weights{below}: {gain:+.1f} +- {error:.1f} ranking quality {of}"
    )
