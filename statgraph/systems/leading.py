"""A signal that leads, where an ensemble's weighted sum is worse than that signal alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from statgraph import artifacts
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.features import Features
from statgraph.retrieval.ranking.learnt import Measure, ranked
from statgraph.retrieval.search.ensemble_run import ranker_entries
from statgraph.runs.run import Run

LEADS = "leads"  # in the ranker's file: by what the weights of signals that lead are multiplied
FACTORS = (2.0, 4.0, 8.0, 16.0)
ENOUGH_TO_LEAD = 30  # dev questions: of ten one signal or another is better by chance


def read_leads(run: Run) -> Mapping[str, float]:
    """Return by what the weights of a run's leading signals are multiplied; none lead in most runs.

    Raises:
        RunError: if the ranker's file is damaged.
    """
    if not run.ranker.is_file():
        return {}
    with artifacts.reading(run.ranker):
        return {str(name): float(factor) for name, factor in dict(ranker_entries(run.ranker).get(LEADS, {})).items()}


def leading_signal(
    ensemble: Ensemble, candidates: Sequence[Features], measure: Measure
) -> tuple[str, float, float] | None:
    """Return the signal that alone ranks questions better than the fixed ranker by more than the standard error of the
    difference, its measure and the ranker's; None where there is no such signal."""
    by_ranker = measure(ranked(candidates, [ensemble.fixed.scores(each) for each in candidates]))
    alone = {
        signal.name: measure(ranked(candidates, [each.column(signal.name, "score") for each in candidates]))
        for signal in ensemble.signals
    }
    best = max(alone, key=lambda name: alone[name].mean())
    difference = alone[best] - by_ranker
    if difference.mean() <= difference.std() / np.sqrt(len(difference)):
        return None
    return best, float(alone[best].mean()), float(by_ranker.mean())
