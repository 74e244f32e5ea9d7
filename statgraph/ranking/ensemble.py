"""Several signals as one ranking: candidates, features, and a ranker over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.ranking.candidates import CandidateFinder
from statgraph.ranking.features import Features, feature_names, features
from statgraph.ranking.fixed import FixedRanker
from statgraph.ranking.structure import Structure
from statgraph.signals.signal import Asked, Signal

FINALISTS = 800  # what a learnt ranker reorders: it learns from as many, and knows nothing of what lies far below


class CandidateRanker(Protocol):
    """Scores the candidates of a question."""

    kind: str

    def scores(self, found: Features) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32; higher is better."""

    def contributions(self, found: Features) -> np.ndarray:
        """Return what each feature adds to the score and, last, what every candidate is given, (candidates,
        features + 1) float32: they add up to the score."""


class Ensemble:
    """Signals over one law and the ranker of their candidates.

    Args:
        signals: at least one.
        structure: of the law.
        fixed: the ranker that tells the finalists among the candidates, and ranks them too, unless `ranker` is replaced
            by one that has learnt from `features`.
        weights: of the signals in the sum by which the best candidates are told.
        depth: how many articles each signal proposes.
        near: for how many of the best the surroundings are candidates too.
    """

    def __init__(
        self,
        signals: Sequence[Signal],
        structure: Structure,
        fixed: FixedRanker,
        *,
        weights: Sequence[float],
        depth: int,
        near: int,
    ):
        self.signals = tuple(signals)
        self.structure = structure
        self.fixed = fixed
        self.ranker: CandidateRanker = fixed
        self._weights = np.asarray(weights, dtype=np.float32)
        self._finder = CandidateFinder(structure, depth=depth, near=near)

    @property
    def feature_names(self) -> tuple[tuple[str, str], ...]:
        """Return what the columns of the features are."""
        return feature_names([signal.name for signal in self.signals])

    def rank(
        self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None
    ) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return for each question (rows int64, scores float32) of its best `k` articles, best first, ties by row."""
        rows, scores = [], []
        for found in self.features(questions, k, allowed):
            values = self.ranker.scores(found)
            best = np.argsort(-values, kind="stable")[:k]
            rows.append(found.rows[best])
            scores.append(values[best].astype(np.float32))
        return rows, scores

    def features(self, questions: Sequence[str], k: int = 1, allowed: AllowedRows | None = None) -> Iterator[Features]:
        """Yield the features of each question's finalists."""
        for candidates in self.candidates(questions, k, allowed):
            yield self.finalists(candidates, k)

    def candidates(
        self, questions: Sequence[str], k: int = 1, allowed: AllowedRows | None = None
    ) -> Iterator[Features]:
        """Yield the features of all candidates of each question."""
        asked = Asked(questions)
        names = [signal.name for signal in self.signals]
        for answers in zip(*(signal.ask(asked) for signal in self.signals), strict=True):
            candidates = self._finder.candidates(answers, self._weights, k, allowed)
            yield features(candidates, self.structure, names, self._weights)

    def finalists(self, candidates: Features, k: int = 1) -> Features:
        """Return the best of the candidates by the fixed ranker: `k` at least where the law has so many."""
        return candidates.best(self.fixed.scores(candidates), max(k, FINALISTS))
