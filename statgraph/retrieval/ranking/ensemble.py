"""Several signals as one ranking: their candidates, and the weighted sum that orders these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Judged, Ranked
from statgraph.law.structure import Structure
from statgraph.retrieval.ranking.calibration import Calibration, Evidence, evidence
from statgraph.retrieval.ranking.candidates import SCALE_DEPTH, Candidates, candidates_of, scale_depth
from statgraph.retrieval.ranking.long_questions import QuestionParts, long_proposal, question_batch
from statgraph.retrieval.ranking.reader import Reader
from statgraph.retrieval.ranking.weighted_sum import WeightedSum
from statgraph.retrieval.signals.signal import ZERO_SHOT, Proposal, Signal, text_bm25


class Ensemble:
    """Signals over one law and the ranker of their candidates.

    Args:
        signals: at least one.
        structure: of the law.
        ranker: with a weight for each signal, in their order.
        near: for how many of the best the surroundings are candidates too.
        wholes: whether the signals that learn have learnt from long questions: these then read a long one as a whole,
            and others its sentences too.
    """

    floor = None

    def __init__(
        self,
        signals: Sequence[Signal],
        structure: Structure,
        ranker: WeightedSum,
        *,
        near: int,
        wholes: bool = False,
    ):
        self.signals = tuple(signals)
        self.structure = structure
        self.ranker = ranker
        self.reader: Reader | None = None
        self.calibration: Calibration | None = None
        self.wholes = wholes
        self.near = near
        self.by_sentence = True  # whether a long question is read by sentence at all
        self._zero_shot = next((place for place, signal in enumerate(signals) if signal.kind == ZERO_SHOT), None)
        self._bm25 = text_bm25(signals)
        dense = [signal for signal in signals if signal.encoder is not None]
        # The untrained encoder's cosines first: they know nothing of the training questions.
        self._dense = min(dense, key=lambda signal: signal.kind != ZERO_SHOT).name if dense else None

    @property
    def by_words(self) -> bool:
        """Return whether articles are found by words alone: no signal encodes the questions."""
        return self._dense is None

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the best `k` articles for each question, ties by row."""
        ranked = []
        for question, candidates in zip(questions, self.candidates(questions, k, allowed), strict=True):
            ranked_by, added_by_reader = self.scores(question, candidates)
            scores = ranked_by + added_by_reader
            best = np.argsort(-scores, kind="stable")[:k]
            ranking = Ranked(candidates.rows[best], scores[best].astype(np.float32))
            if self.calibration is not None:
                probabilities = self.calibration.probabilities(self.evidence(question, candidates, scores))
                ranking = Judged.of(ranking, probabilities[:k])
            ranked.append(ranking)
        return ranked

    def scores(self, question: str, candidates: Candidates) -> tuple[np.ndarray, np.ndarray]:
        """Return the ranker's scores of a question's candidates and what the reader adds, both (candidates,)."""
        scores = self.ranker.scores(candidates)
        if self.reader is None:
            return scores, np.zeros_like(scores)
        read = question if self._bm25 is None else self._bm25.corrected(question)
        return scores, self.reader.amounts(read, candidates.rows, scores)

    @property
    def has_evidence(self) -> bool:
        """Return whether its signals have what a probability is computed from: BM25 and vectors."""
        return self._bm25 is not None and self._dense is not None

    def evidence(self, question: str, candidates: Candidates, scores: np.ndarray) -> Evidence:
        """Return what a calibration judges the candidates of a question by, best first; where `has_evidence`."""
        assert self._bm25 is not None
        assert self._dense is not None
        return evidence(candidates, scores, coverage=self._bm25.coverage(question), dense=self._dense)

    def candidates(
        self, questions: Sequence[str], k: int = 1, allowed: AllowedRows | None = None
    ) -> Iterator[Candidates]:
        """Yield the candidates of each question, `k` at least where the law has so many."""
        batch, all_parts = question_batch(questions, self._bm25, by_sentence=self.by_sentence, wholes=self.wholes)
        depth = max(k, SCALE_DEPTH)
        by_signal = [signal.propose(batch, depth, allowed) for signal in self.signals]
        names, weights = [signal.name for signal in self.signals], self.ranker.signal_weights
        for parts in all_parts:
            proposals = self._question_proposals(parts, by_signal, depth)
            yield candidates_of(proposals, names, weights, self.structure, near=self.near, allowed=allowed)

    def _question_proposals(
        self, parts: QuestionParts, by_signal: Sequence[Sequence[Proposal]], k: int
    ) -> list[Proposal]:
        """Return each signal's proposal for a question, from its proposals for all texts of the batch."""
        if not parts.sentences:
            return [by_text[parts.whole] for by_text in by_signal]
        best_scores = None
        if self._zero_shot is not None:
            by_text = by_signal[self._zero_shot]
            rankings = [by_text[place].candidates.scores for place in parts.sentences]
            best_scores = np.array([float(scores[0]) if len(scores) else 0.0 for scores in rankings])
        weights = parts.weights(best_scores)
        proposals = []
        for signal, by_text in zip(self.signals, by_signal, strict=True):
            proposal = by_text[parts.whole]
            if not (self.wholes and signal.info.learns):
                sentences = [by_text[place] for place in parts.sentences]
                depth = scale_depth(len(self.structure))
                proposal = long_proposal(proposal, sentences, weights, k=k, scale_depth=depth)
            proposals.append(proposal)
        return proposals
