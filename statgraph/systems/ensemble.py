"""Training an ensemble: its members, the signals beside them, and the weights of all in its sum."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.distributed import SINGLE, in_world
from statgraph.encoders.inference.frozen_questions import questions_kept
from statgraph.law.query import Ranked
from statgraph.law.records import Corpus, Question
from statgraph.progress import Progress
from statgraph.registry import SIGNALS
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.long_questions import is_long
from statgraph.retrieval.ranking.weighted_sum import prior
from statgraph.retrieval.search.ensemble_run import (
    member_signals,
    other_signals,
    read_ensemble,
    read_ranker,
    write_ranker,
)
from statgraph.retrieval.signals.centring import write_centres
from statgraph.retrieval.signals.maxsim import MaxSimSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, SignalSource
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.calibrating import calibrate
from statgraph.systems.job import Job, StepClock
from statgraph.systems.learning import learn_weights, quality_of, questions_of_all_sets
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import member_config

_DEPTH = 500  # candidates of a question that weights are learnt from, at least


def train_ensemble(job: Job) -> DevRankings | None:
    """Train the members, then write the other signals, the law's structure and the ranker into the run folder.

    Returns the rankings of the dev questions by weights that have not learnt from them; None without dev questions, and
    of several processes for all but the first.

    Raises:
        UsageError: if a member cannot be trained, or the ranker has no questions to learn from that it must have.
    """
    corpus, config, final = job.corpus, job.config, job.options.final
    run = RunFolder(job.folder, config, CorpusFacts.of(corpus))
    for name, folder in run.member_folders.items():
        with job.clock.step(f"member {name}"):
            followed = RunFolder.read(final.member_folders[name]) if final is not None else None
            _train_member(replace(job, options=replace(job.options, final=followed)), name, folder)
    if not job.world.is_first:
        return None
    job = replace(job, world=SINGLE)  # the other processes have left
    with in_world(SINGLE), questions_kept():
        write_parts(run, corpus, job.clock, job.options.progress)
        if final is not None:
            job.options.announce(copy_ranker(final, run))
            if final.calibration.is_file():
                shutil.copyfile(final.calibration, run.calibration)
            return None
        with job.clock.step("ranker"):
            ensemble = read_ensemble(run, len(corpus.articles), device=config.device)
            learnt = _learn_ranker(job, run, ensemble)
        with job.clock.step("calibration"):
            calibrate(job, run, ensemble, learnt.candidates, learnt.scores)
        if not learnt.questions:
            return None
        _announce_comparison(job, ensemble, learnt)
        return learnt


def write_parts(
    run: RunFolder, corpus: Corpus, clock: StepClock, progress: Progress, *, before: RunFolder | None = None
) -> None:
    """Write what an ensemble has beside its trained members and what its ranker has learnt; `before` is the run before
    an update, from which articles that have not changed are taken."""
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
            before=None if before is None else before.signals,
            progress=progress,
        )
        with artifacts.replaced_folder(run.signals) as staging:
            for name in run.config.ensemble.signals:
                (staging / name).mkdir()
                if not SIGNALS.load(name).write(source, staging / name):  # nothing to say about this law
                    shutil.rmtree(staging / name)
            share, untrained = run.config.ensemble.centring, [each for each in members if each.kind == ZERO_SHOT]
            if share and untrained:
                texts, by_token = [question.text for question in questions], (staging / MaxSimSignal.name).is_dir()
                write_centres(untrained, texts, share, staging, tokens=by_token)
        n_long = sum(is_long(question.text) for question in questions)
        signals = [*other_signals(run, members), *members]
        write_ranker(run, prior(signals, len(questions)), n_learnt_from=0, wholes=2 * n_long > len(questions))


def copy_ranker(source: RunFolder, run: RunFolder) -> str:
    """Give a run the weights of another whose signals are the same, and return in words what ranks now."""
    before = read_ranker(source)
    if list(before.ranker.signals) != list(read_ranker(run).ranker.signals):
        return f"ranker not as learnt: the signals are not those whose weights {source.folder} has"
    shutil.copyfile(source.ranker, run.ranker)
    return f"ranker with the weights of {source.folder}"


def _train_member(job: Job, name: str, folder: Path) -> None:
    # As the first of several processes sees it, before it begins: the others may come to a folder where it has begun.
    finished, unfinished = job.world.json_from_first(lambda: [is_finished(folder), is_unfinished(folder)])
    if not finished:
        options = replace(job.options, resume=unfinished, measured=False)
        train_run(job.corpus, member_config(job.config, name), folder, options)


@dataclass(frozen=True, eq=False)
class DevRankings:
    """How an ensemble ranks the dev questions, what `evaluate_split` asks of a retriever: the candidates of each, and
    their scores by weights that have not learnt from it."""

    questions: Sequence[Question]
    candidates: Sequence[Candidates]
    scores: Sequence[np.ndarray]

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the ranking of each dev question, without scores."""
        return [Ranked(rows[:k], np.zeros(0, dtype=np.float32)) for rows in self.rankings]

    @property
    def rankings(self) -> list[np.ndarray]:
        """Return each question's ranked rows."""
        return [own.ranked(scores) for own, scores in zip(self.candidates, self.scores, strict=True)]


def _learn_ranker(job: Job, run: RunFolder, ensemble: Ensemble) -> DevRankings:
    """Learn the weights from the dev questions of all sets, write them and give them to the ensemble; return what that
    came to for those of the main set."""
    corpus, before = job.corpus, ensemble.ranker
    dev = corpus.split("dev")
    if not dev:
        return DevRankings(dev, [], [])
    questions = questions_of_all_sets(corpus, "dev") if run.config.ranker.learnt else list(dev)
    candidates = list(ensemble.candidates([question.text for question in questions], _DEPTH))
    scores = [before.scores(own) for own in candidates]
    by_prior = DevRankings(dev, candidates[: len(dev)], scores[: len(dev)])
    if not run.config.ranker.learnt:
        return by_prior
    learning = learn_weights(before, corpus, questions, candidates)
    ensemble.ranker = learning.ranker
    write_ranker(run, learning.ranker, n_learnt_from=len(questions), wholes=ensemble.wholes)
    held_out = [ranker.scores(own) for ranker, own in zip(learning.held_out, candidates, strict=True)]
    learnt = replace(by_prior, scores=held_out[: len(dev)])
    gains = 100 * (quality_of(corpus, dev, learnt.rankings) - quality_of(corpus, dev, by_prior.rankings))
    job.options.announce(
        f"ranker weights learnt from {len(questions)} dev questions: {gains.mean():+.1f} +- "
        f"{gains.std() / np.sqrt(len(gains)):.1f} ranking quality, on topics held out"
    )
    return learnt


def _announce_comparison(job: Job, ensemble: Ensemble, learnt: DevRankings) -> None:
    """Say how the rankings of the dev questions compare with those of each signal alone, with a warning where one is
    better by more than the standard error of the difference."""

    def quality(rankings: Sequence[np.ndarray]) -> np.ndarray:
        return 100 * quality_of(job.corpus, learnt.questions, rankings)

    alone = {
        signal.name: quality([each.ranked(each.of(signal.name)) for each in learnt.candidates])
        for signal in ensemble.signals
    }
    best = max(alone, key=lambda name: alone[name].mean())
    reached = quality(learnt.rankings)
    less = alone[best] - reached
    is_worse = less.mean() > less.std() / np.sqrt(len(less))
    job.options.announce(
        f"dev ranking quality {reached.mean():.1f}; the best signal alone, {best}: {alone[best].mean():.1f}"
        + (f"; WARNING: {best} is better, and simpler" if is_worse else "")
    )
