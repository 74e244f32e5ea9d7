"""Several signals as one ranking: candidates, features, and a ranker over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.query import Judged, Ranked
from statgraph.corpus.structure import Structure
from statgraph.ranking.calibration import Calibration, Evidence, evidence
from statgraph.ranking.candidates import CandidateFinder
from statgraph.ranking.features import Features, feature_names, features
from statgraph.ranking.fixed import FixedRanker
from statgraph.ranking.long_questions import answers_of, asked
from statgraph.signals.citation import CitationSignal
from statgraph.signals.lexical import TextSignal
from statgraph.signals.signal import ZERO_SHOT, Signal

FINALISTS = 800  # what a learnt ranker reorders: it learns from as many, and knows nothing of what lies far below


class CandidateRanker(Protocol):
    """Scores the candidates of a question."""

    kind: str

    def scores(self, candidates: Features) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32; higher is better."""

    def contributions(self, candidates: Features) -> np.ndarray:
        """Return what each feature adds to the score and, last, what every candidate is given, (candidates,
        features + 1) float32: they add up to the score."""


class Ensemble:
    """Signals over one law and the ranker of their candidates.

    Args:
        signals: at least one.
        structure: of the law.
        fixed: the ranker that chooses the finalists, and ranks them too unless `ranker` is replaced by one that has
            learnt from `features`.
        weights: of the signals in the sum that ranks the candidates.
        depth: how many articles each signal proposes.
        near: for how many of the best the surroundings are candidates too.
    """

    floor = None

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
        self.calibration: Calibration | None = None
        self._depth = depth
        self._weights = np.asarray(weights, dtype=np.float32)
        self._finder = CandidateFinder(structure, near=near)
        self._bm25 = next((signal.bm25 for signal in signals if isinstance(signal, TextSignal)), None)
        dense = [signal for signal in signals if hasattr(signal, "encoder") and hasattr(signal, "width")]
        # The untrained encoder's cosines first: they know nothing of the questions asked so far.
        self._dense = min(dense, key=lambda signal: signal.kind != ZERO_SHOT).name if dense else None

    @property
    def feature_names(self) -> tuple[tuple[str, str], ...]:
        """Return what the columns of the features are."""
        return feature_names([signal.name for signal in self.signals])

    @property
    def by_words(self) -> bool:
        """Return whether articles are found by words alone: no signal encodes the questions."""
        return not any(hasattr(signal, "encoder") for signal in self.signals)

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` articles for each question, ties by row."""
        ranked = []
        for question, candidates in zip(questions, self.candidates(questions, k, allowed), strict=True):
            finalists = self.finalists(candidates, k)
            scores = self.ranker.scores(finalists)
            best = np.argsort(-scores, kind="stable")[:k]
            found = Ranked(finalists.rows[best], scores[best].astype(np.float32))
            if self.calibration is not None:
                probabilities = self.calibration.probabilities(self.evidence(question, finalists, scores))
                found = Judged.of(found, probabilities[:k])
            ranked.append(found)
        return ranked

    @property
    def has_evidence(self) -> bool:
        """Return whether its signals have what a probability is computed from: BM25 and vectors."""
        return self._bm25 is not None and self._dense is not None

    def evidence(self, question: str, candidates: Features, scores: np.ndarray) -> Evidence:
        """Return what a calibration judges the candidates of a question by, best first; where `has_evidence`."""
        unit = float(self._weights[[signal.kind != CitationSignal.kind for signal in self.signals]].sum())
        return evidence(candidates, scores, coverage=self._bm25.coverage(question), dense=self._dense, unit=unit)

    def features(self, questions: Sequence[str], k: int = 1, allowed: AllowedRows | None = None) -> Iterator[Features]:
        """Yield the features of each question's finalists."""
        for candidates in self.candidates(questions, k, allowed):
            yield self.finalists(candidates, k)

    def candidates(
        self, questions: Sequence[str], k: int = 1, allowed: AllowedRows | None = None
    ) -> Iterator[Features]:
        """Yield the features of all candidates of each question."""
        texts, counts = asked(questions, self._bm25)
        names, answers = [signal.name for signal in self.signals], []
        for signal in self.signals:
            answers.append(answers_of(signal.ask(texts), counts))
        for question_answers in zip(*answers, strict=True):
            proposals = []
            for answer in question_answers:
                proposals.append(answer.best(max(k, self._depth), allowed))
            candidates = self._finder.candidates(question_answers, proposals, self._weights, allowed)
            yield features(candidates, self.structure, names, self._weights)

    def finalists(self, candidates: Features, k: int = 1) -> Features:
        """Return the best of the candidates by the fixed ranker: `k` at least where the law has so many."""
        return candidates.best(self.fixed.scores(candidates), max(k, FINALISTS))
