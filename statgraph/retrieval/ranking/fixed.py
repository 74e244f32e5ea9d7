"""The ranker that has learnt nothing: a weighted sum of an article's scaled signals and of those around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from statgraph.retrieval.ranking.features import OF_CITED, OF_CITING, OF_SECTION, SUM, Features
from statgraph.retrieval.signals.signal import Signal

SURROUNDINGS = {OF_SECTION: 0.3, OF_CITING: 0.1, OF_CITED: 0.1}
_HALF_AT = 100  # training questions at which a signal that has learnt from them has half its kind's weight


def signal_weights(signals: Sequence[Signal], n_questions: int) -> np.ndarray:
    """Return the weight of each signal, (signals,) float32.

    One that has learnt from n questions weighs n / (n + 100) of its kind's weight: with a few, an untrained encoder
    knows more.
    """
    share = n_questions / (n_questions + _HALF_AT)
    weights = [signal.info.weight * (share if signal.info.learns else 1) for signal in signals]
    return np.array(weights, dtype=np.float32)


class FixedRanker:
    """Score = sum of the scaled signals by weight + 0.3 * the best such sum under the same heading + 0.1 * the best of
    an article that cites it + 0.1 * the best of one that it cites.
    """

    kind = "fixed"
    keeps_first = False

    def __init__(self, weights: Mapping[str, float]):
        self._parts = {(signal, "scaled"): weight for signal, weight in weights.items()}
        self._parts |= {(SUM, aspect): weight for aspect, weight in SURROUNDINGS.items()}

    def scores(self, candidates: Features) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32."""
        scores: np.ndarray = self._weighted(candidates).sum(axis=1)
        return scores

    def contributions(self, candidates: Features) -> np.ndarray:
        """Return what each feature adds to the score and, last, 0 for every candidate, (candidates, features + 1)
        float32."""
        return np.pad(self._weighted(candidates), ((0, 0), (0, 1)))

    def _weighted(self, candidates: Features) -> np.ndarray:
        weights = np.array([self._parts.get(name, 0.0) for name in candidates.names], dtype=np.float32)
        return candidates.values * weights
