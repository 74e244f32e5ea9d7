"""By what the weights of an ensemble's signals are multiplied, where questions show that others are better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from statgraph import artifacts
from statgraph.ranking.ensemble import Ensemble
from statgraph.ranking.features import Features
from statgraph.ranking.fixed import FixedRanker
from statgraph.ranking.learnt import Measure, ranked
from statgraph.runs.run import Run
from statgraph.search.ensemble_run import ranker_entries
from statgraph.signals.citation import CitationSignal
from statgraph.signals.signal import TRAINED, signal_info
from statgraph.systems.presets import ENOUGH_TO_FOLD

LEADS = "leads"  # in the ranker's file: by what the weights of some signals are multiplied
FACTORS = (2.0, 4.0, 8.0, 16.0)  # of a signal that leads
# Of the signals that have learnt from no question, and of those other than members that have (votes, wording).
_UNTRAINED_FACTORS, _VOTING_FACTORS = (1.0, 0.7, 0.5, 0.35), (1.0, 2.0, 4.0, 7.0)


def read_leads(run: Run) -> Mapping[str, float]:
    """Return by what the weights of some of a run's signals are multiplied: few runs have any.

    Raises:
        RunError: if the ranker's file is damaged.
    """
    if not run.ranker.is_file():
        return {}
    with artifacts.reading(run.ranker, "train the run again"):
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


def learnt_factors(
    ensemble: Ensemble, candidates: Sequence[Features], measure: Measure
) -> tuple[Mapping[str, float], float]:
    """Return (by what to multiply the weights of signals so that questions gain, the gain).

    Signals that have learnt from many questions may know more than fixed weights can tell: the others are tried at less
    of their weight, votes and wording at more. Sixteen ways are compared, so none is taken unless there are 300
    questions and its gain is more than twice its standard error.

    Args:
        ensemble: whose fixed weights are multiplied.
        candidates: of each question, by signals that have not seen its labels.
        measure: the measure to maximise.
    """
    if len(candidates) < ENOUGH_TO_FOLD:
        return {}, 0.0

    def factors(untrained: float, voting: float) -> Mapping[str, float]:
        by = {}
        for signal in ensemble.signals:
            if not signal_info(signal).learns:
                by[signal.name] = 1.0 if signal.kind == CitationSignal.kind else untrained
            elif signal.kind != TRAINED:
                by[signal.name] = voting
        return {name: factor for name, factor in by.items() if factor != 1}

    def values(by: Mapping[str, float]) -> np.ndarray:
        weights = ensemble.fixed.weights.items()
        ranker = FixedRanker({name: weight * by.get(name, 1.0) for name, weight in weights})
        return measure(ranked(candidates, [ranker.scores(each) for each in candidates]))

    ways = [factors(*way) for way in product(_UNTRAINED_FACTORS, _VOTING_FACTORS)]
    unchanged, *others = [values(way) for way in ways]
    best = max(range(len(others)), key=lambda way: others[way].mean())
    difference = others[best] - unchanged
    gain = float(difference.mean())
    return (ways[best + 1], gain) if gain > 2 * difference.std() / np.sqrt(len(difference)) else ({}, 0.0)
