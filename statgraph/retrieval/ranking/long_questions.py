"""Long questions, such as letters, are read by sentence and as a whole: most of their sentences ask nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from statgraph.law.query import Ranked
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.lexical.sentences import question_sentences
from statgraph.retrieval.ranking.candidates import Scale, united
from statgraph.retrieval.signals.signal import Proposal, QuestionBatch

_MIN_LENGTH = 240  # characters of a long question
_MIN_SENTENCES = 4  # of a long question
_MAX_READ = 8  # sentences that the signals read
_QUESTION_MARK = 2.5  # its worth among a question's sentences, in standard deviations of their strengths
# How sharply sentences are weighed: exponents for standard deviations, cubed by an encoder, and for a question mark.
_BY_ENCODER = 0.6, 0.5
_BY_WORDS = 1.0, 3.0
_BEST, _WHOLE = 0.5, 0.5  # what the best sentence and, at most, the whole count beside the weighted sentences


@dataclass(frozen=True, eq=False)
class QuestionParts:
    """The texts as which a question is read: itself and, of a long one, sentences.

    Attributes:
        whole: its place in the batch.
        sentences: the places of the sentences that are read apart; none of a short question.
        asks: (sentences,) bool: whether each ends in a question mark.
        strengths: (sentences,) how much the law's words say of each, standardised within the question.
    """

    whole: int
    sentences: range
    asks: np.ndarray
    strengths: np.ndarray

    def weights(self, best_scores: np.ndarray | None) -> np.ndarray:
        """Return what each sentence counts, (sentences,), adding up to 1.

        The sentence that asks lies nearest to the law: weights are a softmax of the best score that an untrained
        encoder gives each, standardised and cubed: one that stands out has all, several that do not share;
        without such scores, of the strengths of their words.
        """
        if best_scores is None:
            sharpness, bonus = _BY_WORDS
            exponents = sharpness * self.strengths + bonus * self.asks
        else:
            sharpness, bonus = _BY_ENCODER
            exponents = sharpness * _standardised(best_scores) ** 3 + bonus * self.asks
        weights: np.ndarray = np.exp(exponents - exponents.max())
        weights /= weights.sum()
        return weights


def question_batch(
    questions: Sequence[str], bm25: BM25 | None, *, by_sentence: bool = True, wholes: bool = False
) -> tuple[QuestionBatch, list[QuestionParts]]:
    """Return the texts that signals read, each question, its typing errors corrected, followed by its sentences that
    are read apart, and the parts of each question. Unless `wholes`, an encoder reads a long question's sentences alone.

    Of a long question's sentences those eight are read that score highest: BM25 of the best article, divided by the
    root of the length, standardised within the question, and 2.5 more for a question mark.
    """
    texts: list[str] = []
    all_parts = []
    for question in questions if bm25 is None else map(bm25.corrected, questions):
        sentences = _sentences(question) if by_sentence else []
        asks = np.array([_asks(sentence) for sentence in sentences], dtype=bool)
        strengths = _strengths(sentences, bm25)
        kept = np.sort(np.argsort(-(strengths + _QUESTION_MARK * asks), kind="stable")[:_MAX_READ])
        first = len(texts) + 1
        all_parts.append(QuestionParts(len(texts), range(first, first + len(kept)), asks[kept], strengths[kept]))
        texts += question, *(sentences[place] for place in kept)
    sentences_of = {parts.whole: parts.sentences for parts in all_parts if parts.sentences}
    return QuestionBatch(texts, {} if wholes else sentences_of), all_parts


def is_long(question: str) -> bool:
    """Return whether sentences of a question are read apart."""
    return bool(_sentences(question))


def _sentences(question: str) -> list[str]:
    if len(question) < _MIN_LENGTH:
        return []
    sentences = question_sentences(question)
    return sentences if len(sentences) >= _MIN_SENTENCES else []


def _strengths(sentences: Sequence[str], bm25: BM25 | None) -> np.ndarray:
    if bm25 is None or not sentences:
        return np.zeros(len(sentences))
    return _standardised(
        np.array([float(bm25.scores(sentence).max()) / math.sqrt(len(sentence)) for sentence in sentences])
    )


def _standardised(values: np.ndarray) -> np.ndarray:
    standardised: np.ndarray = (values - values.mean()) / (float(values.std()) or 1.0)
    return standardised


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)） ").endswith(("?", "？"))


def long_proposal(
    whole: Proposal, sentences: Sequence[Proposal], weights: np.ndarray, *, k: int, scale_depth: int
) -> Proposal:
    """Return what a signal says of a long question, from its proposals for the whole and for the sentences.

    An article has the weighted sum of its scores for the sentences, half of its best for a sentence, and its score for
    the whole times half of 1 - the largest weight: the whole counts the less, the more one sentence stands out. Each is
    on the scale of `Scale`, beyond 0 and 1 too. The best `k` of what all of them propose are candidates.

    Args:
        whole: the proposal for the whole.
        sentences: those for the sentences.
        weights: (sentences,), adding up to 1.
        k: how many candidates.
        scale_depth: the place of the article that has 0.
    """
    confidence = max(sentence.confidence for sentence in sentences)
    proposed = [proposal.candidates for proposal in (whole, *sentences)]
    rows = united([ranked.rows for ranked in proposed])
    if not len(rows):
        return replace(whole, confidence=confidence)

    def sentence_scores(rows: np.ndarray) -> np.ndarray:  # (sentences, rows)
        return np.stack([sentence.scores(rows) for sentence in sentences])

    whole_scores, by_sentence = whole.scores(rows), sentence_scores(rows)
    best_sentence = np.sort(by_sentence.max(axis=0))[::-1]
    whole_scale, *sentence_scales, best_scale = (
        Scale.of(falling, scale_depth, whole) for falling in (*(ranked.scores for ranked in proposed), best_sentence)
    )
    whole_weight = _WHOLE * (1 - float(weights.max()))

    def joined(whole_scores: np.ndarray, by_sentence: np.ndarray) -> np.ndarray:
        total = whole_weight * whole_scale.units(whole_scores) + _BEST * best_scale.units(by_sentence.max(axis=0))
        for weight, scale, scores in zip(weights, sentence_scales, by_sentence, strict=True):
            total += weight * scale.units(scores)
        return np.asarray(total, dtype=np.float32)

    def scores(rows: np.ndarray) -> np.ndarray:
        return joined(whole.scores(rows), sentence_scores(rows))

    floor = whole.floor
    if floor is not None:
        floor = float(joined(np.full(1, floor), np.full((len(sentences), 1), floor))[0])
    candidate_scores = joined(whole_scores, by_sentence)
    order = np.argsort(-candidate_scores, kind="stable")[:k]
    return replace(
        whole,
        candidates=Ranked(rows[order].astype(np.int64), candidate_scores[order]),
        scores=scores,
        floor=floor,
        confidence=confidence,
        best_part=lambda rows: np.maximum(whole.scores(rows), sentence_scores(rows).max(axis=0)),
    )
