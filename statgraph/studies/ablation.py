"""A trained ensemble without each of its parts: new features, trees and rankings over the same members."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.encoders.inference.frozen_questions import questions_kept
from statgraph.evaluation.metrics import DEPTH
from statgraph.law.citations.references import Citations
from statgraph.law.query import Ranked
from statgraph.law.records import MAIN_SET, Corpus, Question
from statgraph.memory import peak_memory_mib
from statgraph.retrieval.ranking.ensemble import CandidateRanker, Ensemble
from statgraph.retrieval.ranking.features import ARTICLE, OF_CITED, OF_CITING, OF_PARENT, OF_SECTION, SUM, Features
from statgraph.retrieval.ranking.fixed import FixedRanker, signal_weights
from statgraph.retrieval.ranking.learnt import ranked, with_trees
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.signal import Signal
from statgraph.runs.folders import is_finished, is_unfinished
from statgraph.runs.kind import kind_of
from statgraph.runs.run import RunFolder
from statgraph.studies.running import CorpusRuns, PlannedRun, run_id
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult
from statgraph.systems.ensemble import fold_runs
from statgraph.systems.job import Job, TrainingOptions
from statgraph.systems.learning import learning_of, learns_from, questions_to_learn_from
from statgraph.systems.pipeline import train_run

# Parts beside signals that a row can leave out, each by the features that go with it.
FEATURES: Mapping[str, Callable[[str, str], bool]] = {
    "same heading": lambda subject, aspect: aspect == OF_SECTION,
    "heading above": lambda subject, aspect: aspect == OF_PARENT,
    "cited by": lambda subject, aspect: (subject, aspect) == (SUM, OF_CITING),
    "cites": lambda subject, aspect: (subject, aspect) == (SUM, OF_CITED),
    "facts": lambda subject, aspect: subject == ARTICLE,
}
CITATIONS, TREES = "citations", "trees"
SENTENCES, TYPING, DOUBT, CENTRING = READING = "sentences", "typing errors", "doubt", "centring"  # of questions


def with_signal_rows(spec: TableSpec, config: RunConfig) -> TableSpec:
    """Return an ablation with a row for each signal and member of an ensemble, after its first row."""
    names = (*config.ensemble.signals, *config.ensemble.members)
    rows = [RowSpec(f"without {name}", config.system, without=name) for name in names]
    return replace(spec, rows=(spec.rows[0], *rows, *spec.rows[1:]))


@dataclass(frozen=True)
class _Part:
    """An ensemble, the number of training questions behind it, and the questions that were held out of it."""

    ensemble: Ensemble
    n_questions: int
    held_out: Sequence[Question]


@dataclass(frozen=True)
class _Trained:
    """An ensemble and the data of its learnt ranker.

    Attributes:
        run: the ensemble's run, with the configuration of its ranker.
        whole: the ensemble.
        learnt_from: itself, or an ensemble for each fold.
        questions: the questions that the trees learn from, each held out of one of these ensembles.
        trees: the number of trees; 0 where they gained nothing.
        keeps_first: whether the fixed ranker's best stay first.
    """

    run: RunFolder
    whole: _Part
    learnt_from: Sequence[_Part]
    questions: Sequence[Question]
    trees: int = 0
    keeps_first: bool = False


@dataclass(frozen=True)
class AblationRuns(CorpusRuns):
    """The rows of an ablation on one corpus: an ensemble is trained for each seed, and its rows read it."""

    _trained: dict[str, _Trained] = field(default_factory=dict)

    def _carried_out(self, planned: PlannedRun, options: TrainingOptions) -> RunResult:
        """Return the result of a row, training the ensemble as far as it is not there."""
        start = time.perf_counter()
        base = self._claimed(planned)
        if base not in self._trained:
            self._trained.clear()
            self._trained[base] = self.ensemble_of(planned, options)
        trained = self._trained[base]
        ranks = _without(trained, planned.row.without, self.corpus)
        metrics = self._metrics_of(ranks)
        step = {"name": "row", "seconds": round(time.perf_counter() - start, 1), "peak_mib": peak_memory_mib()}
        about = self._about(planned, RunFolder.read(trained.run.folder), False) | {
            "config": artifacts.as_json(planned.config.to_dict()),
            "without": planned.row.without,
            "trees": ranks.trees,
            "steps": [step],
        }
        return RunResult(metrics, about)

    def close(self, planned: Sequence[PlannedRun]) -> None:
        """Remove the ensembles of these rows, unless runs are kept; their members stay in the store."""
        self._trained.clear()
        if not self.keep:
            for base in {self._claimed(run) for run in planned}:
                shutil.rmtree(self.store.trained_folder(base), ignore_errors=True)

    def _claimed(self, planned: PlannedRun) -> str:
        return run_id(planned.config, self.corpus.content_hash, self.split, "ablation")

    def ensemble_of(self, planned: PlannedRun, options: TrainingOptions) -> _Trained:
        """Return the ensemble with its folds, its members and theirs from the store as far as they are there."""
        corpus, config = self.corpus, kind_of(planned.config).for_corpus(planned.config, self.corpus)
        folder = self.store.trained_folder(self._claimed(planned))
        fixed = replace(config, ranker=replace(config.ranker, kind="fixed"))
        if not is_finished(folder):
            train_run(corpus, fixed, folder, replace(options, resume=is_unfinished(folder)))
        run = RunFolder.read(folder)
        cross_fit = learns_from(config.ranker, corpus) == "cross-fit"
        questions, _ = questions_to_learn_from(corpus, "train" if cross_fit else "dev")
        n_train = len(corpus.split("train"))

        def read(part: RunFolder, held_out: Sequence[Question]) -> _Part:
            n_unseen = sum(question.question_set == MAIN_SET for question in held_out) if cross_fit else 0
            ensemble = read_ensemble(part, len(corpus.articles), device=config.device)
            return _Part(ensemble, n_train - n_unseen, held_out)

        with questions_kept():  # every row asks the same questions, as every fold does in training
            whole = read(run, questions if not cross_fit else ())
            parts = [whole]
            if cross_fit:
                parts = [read(*fold) for fold in fold_runs(Job(corpus, config, folder, options, train=train_run), run)]
        trained = _Trained(replace(run, config=config), whole, parts, questions)
        if config.ranker.kind == "fixed" or not questions:
            return trained
        dev_candidates = _features(whole.ensemble, [question.text for question in corpus.split("dev")], frozenset())
        learning = learning_of(corpus, config, whole.ensemble, held_out_features(parts, questions), dev_candidates)
        keeps_first = learning.ranker is not None and learning.ranker.keeps_first
        return replace(trained, trees=learning.trees, keeps_first=keeps_first)


@dataclass(frozen=True)
class _Reduced:
    """The ranking of an ensemble without one of its parts."""

    ensemble: Ensemble
    names: frozenset[tuple[str, str]]
    ranker: CandidateRanker
    trees: int

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the best `k` articles for each question, without scores."""
        features = _features(self.ensemble, questions, self.names)
        rankings = ranked(features, [self.ranker.scores(each) for each in features])
        return [Ranked(rows[:k], np.zeros(0, dtype=np.float32)) for rows in rankings]


def _without(trained: _Trained, without: str, corpus: Corpus) -> _Reduced:
    """Return the ranking without a part, with as many newly learnt trees as the whole ensemble has."""
    config, whole, parts = trained.run.config, trained.whole, trained.learnt_from
    names: frozenset[tuple[str, str]] = frozenset()
    if without in FEATURES:
        is_dropped = FEATURES[without]
        names = frozenset(name for name in whole.ensemble.feature_names if is_dropped(*name))
    elif without not in ("", TREES):
        whole, *parts = (_reduced(part, without, config) for part in (whole, *parts))
    fixed = whole.ensemble.fixed
    if not trained.trees or without == TREES:
        return _Reduced(whole.ensemble, names, fixed, 0)
    features, labels = held_out_features(parts, trained.questions, names), corpus.label_rows(trained.questions)
    ranker = with_trees(
        features, labels, fixed, config.ranker, trained.trees, keeps_first=trained.keeps_first, seed=config.seed
    )
    return _Reduced(whole.ensemble, names, ranker, trained.trees)


def _reduced(part: _Part, without: str, config: RunConfig) -> _Part:
    """Return an ensemble without a signal, the law's citations, or a way in which it reads questions."""
    structure = part.ensemble.structure
    if without == CITATIONS:
        cited = structure.citations
        structure = replace(structure, citations=Citations(cited.targets[:0], np.zeros_like(cited.starts)))
    signals = [_misreading(signal, without) for signal in part.ensemble.signals if signal.name != without]
    weights = signal_weights(signals, part.n_questions)
    # Rounded as they are in a run, so that a row is the ensemble that training without the signal would have made.
    weight_of = {signal.name: round(float(weight), 4) for signal, weight in zip(signals, weights, strict=True)}
    ensemble = Ensemble(
        signals,
        structure,
        FixedRanker(weight_of),
        weights=list(weight_of.values()),
        depth=config.ensemble.depth,
        near=config.ensemble.near,
        wholes=part.ensemble.wholes,
    )
    ensemble.by_sentence = without != SENTENCES
    return replace(part, ensemble=ensemble)


def _misreading(signal: Signal, without: str) -> Signal:
    """Return a signal that counts words without correcting them or without doubting itself, or one of an untrained
    encoder that takes nothing from questions; others as they are."""
    changed: Any = copy.copy(signal)  # what it has depends on its class
    if without == DOUBT:
        changed.doubt = 0.0
    elif without == TYPING and changed.bm25 is not None:
        changed.bm25 = copy.copy(changed.bm25)
        changed.bm25.reader = None
    elif without == CENTRING:
        changed.centre = Centre()
        if changed.member is not None:
            changed.member = _misreading(changed.member, without)
    misreading: Signal = changed
    return misreading


def held_out_features(
    parts: Sequence[_Part], questions: Sequence[Question], names: frozenset[tuple[str, str]] = frozenset()
) -> list[Features]:
    """Return the features of questions without those named, each from the ensemble that it was held out of."""
    by_question: dict[str, Features] = {}
    for part in parts:
        features = _features(part.ensemble, [question.text for question in part.held_out], names)
        by_question |= zip((question.question_id for question in part.held_out), features, strict=True)
    return [by_question[question.question_id] for question in questions]


def _features(ensemble: Ensemble, texts: Sequence[str], names: frozenset[tuple[str, str]]) -> list[Features]:
    # As the ensemble ranks them, except that some features are dropped before it picks the finalists.
    candidates = ensemble.candidates(texts, DEPTH)
    return [ensemble.finalists(each.without(names) if names else each, DEPTH) for each in candidates]
