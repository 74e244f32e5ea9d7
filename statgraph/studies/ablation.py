"""An ensemble without each of its parts: new candidates and newly learnt weights over the same members."""

from __future__ import annotations

import copy
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from statgraph.config import RunConfig
from statgraph.device import peak_memory_mib
from statgraph.encoders.inference.frozen_questions import questions_kept
from statgraph.evaluation.metrics import DEPTH
from statgraph.law.citations.references import Citations
from statgraph.law.query import Ranked
from statgraph.law.records import Corpus
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.weighted_sum import CITED_BY, CITES, SECTION, WeightedSum, prior
from statgraph.retrieval.search.ensemble_run import read_ensemble
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.signal import Signal
from statgraph.studies.running import CorpusRuns, PlannedRun, run_id
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult
from statgraph.systems.job import TrainingOptions
from statgraph.systems.learning import learn_weights, questions_of_all_sets

# Parts beside signals that a row can leave out. The first three are terms of the sum.
AROUND = {"same heading": SECTION, "cited by": CITED_BY, "cites": CITES}
CITATIONS, LEARNING = "citations", "learning"
SENTENCES, TYPING, DOUBT, CENTRING = "sentences", "typing errors", "doubt", "centring"  # of questions
PARTS = (*AROUND, CITATIONS, SENTENCES, TYPING, DOUBT, CENTRING, LEARNING)


def with_signal_rows(spec: TableSpec, config: RunConfig) -> TableSpec:
    """Return an ablation with a row for each signal and member of an ensemble, after its first row."""
    names = (*config.ensemble.signals, *config.ensemble.members)
    rows = [RowSpec(f"without {name}", config.system, without=name) for name in names]
    return replace(spec, rows=(spec.rows[0], *rows, *spec.rows[1:]))


class AblationRuns(CorpusRuns):
    """The rows of an ablation on one corpus: an ensemble is trained for each seed, and its rows read it."""

    def _carried_out(self, planned: PlannedRun, options: TrainingOptions) -> RunResult:
        """Return the result of a row, training the ensemble as far as it is not there."""
        run, _ = self.trained(planned, options)
        start = time.perf_counter()
        ensemble = read_ensemble(run, len(self.corpus.articles), device=planned.config.device)
        metrics = self._metrics_of(reduced(ensemble, planned.row.without, self.corpus))
        step = {"name": "row", "seconds": round(time.perf_counter() - start, 1), "peak_mib": peak_memory_mib()}
        about = {"without": planned.row.without, "steps": [step]}
        return RunResult(metrics, self._about(planned, run, False) | about)

    def close(self, planned: Sequence[PlannedRun]) -> None:
        """Remove the ensembles of these rows, unless runs are kept; their members stay in the store."""
        if not self.keep:
            for base in {self._claimed(run) for run in planned}:
                shutil.rmtree(self.store.trained_folder(base), ignore_errors=True)

    def _claimed(self, planned: PlannedRun) -> str:
        return run_id(planned.config, self.corpus.content_hash, self.split, "ablation")


@dataclass(frozen=True)
class _Reduced:
    """The ranking of an ensemble without one of its parts; `held_out` are the weights for a question, by its text, that
    have not been learnt from it."""

    ensemble: Ensemble
    held_out: Mapping[str, WeightedSum]

    def rank(self, questions: Sequence[str], k: int) -> list[Ranked]:
        """Return the best `k` articles for each question, without scores."""
        rankings = []
        for text, candidates in zip(questions, self.ensemble.candidates(questions, DEPTH), strict=True):
            ranker = self.held_out.get(text, self.ensemble.ranker)
            rankings.append(Ranked(candidates.ranked(ranker.scores(candidates))[:k], np.zeros(0, dtype=np.float32)))
        return rankings


def reduced(whole: Ensemble, without: str, corpus: Corpus) -> _Reduced:
    """Return the ranking of an ensemble without a part, its weights learnt again from the dev questions."""
    structure = whole.structure
    if without == CITATIONS:
        cited = structure.citations
        structure = replace(structure, citations=Citations(cited.targets[:0], np.zeros_like(cited.starts)))
    signals = [_misreading(signal, without) for signal in whole.signals if signal.name != without]
    weights = prior(signals, len(corpus.split("train")))
    if without in AROUND:
        weights = replace(weights, around={**weights.around, AROUND[without]: 0.0})
    ensemble = Ensemble(signals, structure, weights, near=whole.near, wholes=whole.wholes)
    ensemble.by_sentence = without != SENTENCES
    questions = questions_of_all_sets(corpus, "dev")
    if without == LEARNING or not questions:
        return _Reduced(ensemble, {})
    with questions_kept():  # every row asks the same questions
        candidates = list(ensemble.candidates([question.text for question in questions], DEPTH))
    learning = learn_weights(weights, corpus, questions, candidates)
    ensemble.ranker = learning.ranker
    return _Reduced(ensemble, dict(zip((each.text for each in questions), learning.held_out, strict=True)))


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
