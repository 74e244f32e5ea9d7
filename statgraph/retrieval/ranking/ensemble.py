"""Several signals as one ranking: candidates, features, and a ranker over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Judged, Ranked
from statgraph.law.structure import Structure
from statgraph.retrieval.ranking.calibration import Calibration, Evidence, evidence
from statgraph.retrieval.ranking.candidates import CandidateFinder
from statgraph.retrieval.ranking.features import Features, feature_names, features
from statgraph.retrieval.ranking.fixed import FixedRanker
from statgraph.retrieval.ranking.long_questions import LongAnswer, QuestionParts, asked, question_parts
from statgraph.retrieval.ranking.reader import Reader
from statgraph.retrieval.signals.citation import CitationSignal
from statgraph.retrieval.signals.lexical import TextSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, Answer, Signal, signal_info

FINALISTS = 800  # what a learnt ranker reorders: it learns from as many, and knows nothing of what lies far below


class CandidateRanker(Protocol):
    """Scores the candidates of a question."""

    kind: str
    keeps_first: bool

    def scores(self, candidates: Features) -> np.ndarray:
        """Return the score of each candidate, (candidates,) float32; higher is better."""

    def contributions(self, candidates: Features) -> np.ndarray:
        """Return what each feature adds to the score and, last, what every candidate is given, (candidates,
        features + 1) float32: they add up to the score but for what `keeps_first` adds."""


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
        wholes: whether the signals that learn have learnt from long questions: these then read a long one as a whole,
            and others its sentences too.
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
        wholes: bool = False,
    ):
        self.signals = tuple(signals)
        self.structure = structure
        self.fixed = fixed
        self.ranker: CandidateRanker = fixed
        self.reader: Reader | None = None
        self.calibration: Calibration | None = None
        self._depth = depth
        self._weights = np.asarray(weights, dtype=np.float32)
        self._finder = CandidateFinder(structure, near=near)
        self.wholes = wholes
        self.by_sentence = True  # whether a long question is read by sentence at all
        self._zero_shot = next((place for place, signal in enumerate(signals) if signal.kind == ZERO_SHOT), None)
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
            scores = sum(self.scores(question, finalists))
            best = np.argsort(-scores, kind="stable")[:k]
            found = Ranked(finalists.rows[best], scores[best].astype(np.float32))
            if self.calibration is not None:
                probabilities = self.calibration.probabilities(self.evidence(question, finalists, scores))
                found = Judged.of(found, probabilities[:k])
            ranked.append(found)
        return ranked

    def scores(self, question: str, finalists: Features) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranker's scores of a question's finalists and what the reader adds to them, both (finalists,)."""
        scores = self.ranker.scores(finalists)
        none = np.zeros_like(scores)
        return scores, none if self.reader is None else self.reader.amounts(question, finalists.rows, scores)

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
        texts, all_parts = question_parts(questions, self._bm25, by_sentence=self.by_sentence)
        batch = asked(texts, all_parts, wholes=self.wholes)
        answers = []
        for signal in self.signals:
            answers.append(signal.ask(batch))
        names, most = [signal.name for signal in self.signals], max(k, self._depth)
        for parts in all_parts:
            question_answers = self._question_answers(parts, answers, most, allowed)
            proposals = []
            for answer in question_answers:  # a comprehension would be a frame between the question and its scores
                proposals.append(answer.best(most, allowed))
            candidates = self._finder.candidates(question_answers, proposals, self._weights, allowed)
            yield features(candidates, self.structure, names, self._weights)

    def _question_answers(
        self, parts: QuestionParts, answers: Sequence[Sequence[Answer]], k: int, allowed: AllowedRows | None
    ) -> list[Answer]:
        """Return each signal's answer to a question, from its answers to all texts."""
        if not parts.sentences:
            return [by_text[parts.whole] for by_text in answers]
        best_scores = None
        if self._zero_shot is not None:
            ranked = [answer.best(k, allowed) for answer in parts.of(answers[self._zero_shot])]
            best_scores = np.array([float(scores[0]) if len(scores) else 0.0 for _, scores in ranked])
        weights = parts.weights(best_scores)
        return [
            by_text[parts.whole]
            if self.wholes and signal_info(signal).learns
            else LongAnswer(by_text[parts.whole], parts.of(by_text), weights, self._finder.scale_depth)
            for signal, by_text in zip(self.signals, answers, strict=True)
        ]

    def finalists(self, candidates: Features, k: int = 1) -> Features:
        """Return the best of the candidates by the fixed ranker: `k` at least where the law has so many."""
        return candidates.best(self.fixed.scores(candidates), max(k, FINALISTS))
