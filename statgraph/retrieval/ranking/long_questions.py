"""Long questions, such as a letter: read by sentence and as a whole, since most of what they tell asks nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.lexical.sentences import question_sentences
from statgraph.retrieval.ranking.candidates import Scale, united
from statgraph.retrieval.signals.signal import Answer, Asked

_LONG = 240  # characters
_SENTENCES = 4  # that a long question has at least
_READ = 8  # sentences that the signals read
_ASKS = 2.5  # what a question mark is worth among a question's sentences, in standard deviations of their strengths
# How sharply sentences are weighed: exponents for standard deviations, cubed by an encoder, and for a question mark.
_BY_ENCODER = 0.6, 0.5
_BY_WORDS = 1.0, 3.0
_OF_BEST, _OF_WHOLE = 0.5, 0.5  # beside the weighted sentences


@dataclass(frozen=True, eq=False)
class QuestionParts:
    """The texts as which a question is read: itself and, of a long one, sentences.

    Attributes:
        whole: its place among the texts that signals are asked.
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
            sharpness, of_asking = _BY_WORDS
            exponents = sharpness * self.strengths + of_asking * self.asks
        else:
            sharpness, of_asking = _BY_ENCODER
            exponents = sharpness * _standardised(best_scores) ** 3 + of_asking * self.asks
        weights = np.exp(exponents - exponents.max())
        return weights / weights.sum()

    def of(self, answers: Sequence[Answer]) -> list[Answer]:
        """Return a signal's answers to the sentences from those to all texts."""
        return [answers[place] for place in self.sentences]


def question_parts(
    questions: Sequence[str], bm25: BM25 | None, *, by_sentence: bool = True
) -> tuple[list[str], list[QuestionParts]]:
    """Return the texts that signals are asked, each question followed by its sentences that are read, and the parts of
    each question.

    Of a long question's sentences those eight are read that score highest: BM25 of the best article, divided by the
    root of the length, standardised within the question, and 2.5 more for a question mark.
    """
    texts: list[str] = []
    all_parts = []
    for question in questions:
        sentences = _sentences(question) if by_sentence else []
        asks = np.array([_asks(sentence) for sentence in sentences], dtype=bool)
        strengths = _strengths(sentences, bm25)
        kept = np.sort(np.argsort(-(strengths + _ASKS * asks), kind="stable")[:_READ])
        first = len(texts) + 1
        all_parts.append(QuestionParts(len(texts), range(first, first + len(kept)), asks[kept], strengths[kept]))
        texts += question, *(sentences[place] for place in kept)
    return texts, all_parts


def asked(texts: Sequence[str], all_parts: Sequence[QuestionParts], *, wholes: bool) -> Asked:
    """Return what signals are asked; unless `wholes`, an encoder reads a long question's sentences alone."""
    return Asked(texts, {} if wholes else {parts.whole: parts.sentences for parts in all_parts if parts.sentences})


def is_long(question: str) -> bool:
    """Return whether sentences of a question are read apart."""
    return bool(_sentences(question))


def _sentences(question: str) -> list[str]:
    if len(question) < _LONG:
        return []
    sentences = question_sentences(question)
    return sentences if len(sentences) >= _SENTENCES else []


def _strengths(sentences: Sequence[str], bm25: BM25 | None) -> np.ndarray:
    if bm25 is None or not sentences:
        return np.zeros(len(sentences))
    return _standardised(
        np.array([float(bm25.scores(sentence).max()) / math.sqrt(len(sentence)) for sentence in sentences])
    )


def _standardised(values: np.ndarray) -> np.ndarray:
    return (values - values.mean()) / (float(values.std()) or 1.0)


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)） ").endswith(("?", "？"))


class LongAnswer:
    """What a signal says of a long question.

    An article has the weighted sum of its scores for the sentences, half of its best for a sentence, and its score for
    the whole times half of 1 - the largest weight: the whole counts the less, the more one sentence stands out. Each is
    on the scale of `Scale`, beyond 0 and 1 too.

    Args:
        whole: the answer to the whole.
        sentences: the answers to the sentences.
        weights: (sentences,), adding up to 1.
        scale_depth: the place of the article that has 0.
    """

    floor: float | None

    def __init__(self, whole: Answer, sentences: Sequence[Answer], weights: np.ndarray, scale_depth: int):
        self._whole = whole
        self._sentences = sentences
        self._weights = weights
        self._of_whole = _OF_WHOLE * (1 - float(weights.max()))
        self._scale_depth = scale_depth
        self._scales: list[Scale] = []
        self.floor = whole.floor
        self.confidence = max(sentence.confidence for sentence in sentences)

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        """Return the best `k` of what the whole and each sentence propose, ties by row."""
        proposed = [answer.best(k, allowed) for answer in (self._whole, *self._sentences)]
        rows = united([ranked.rows for ranked in proposed])
        if not len(rows):
            return proposed[0]
        of_whole, of_sentences = self._whole.scores(rows), self._sentence_scores(rows)
        floor = self._whole.floor
        falling = (*(ranked.scores for ranked in proposed), np.sort(of_sentences.max(axis=0))[::-1])
        self._scales = [Scale.of(scores, self._scale_depth, floor) for scores in falling]
        if floor is not None:
            self.floor = float(self._joined(np.full(1, floor), np.full((len(self._sentences), 1), floor))[0])
        scores = self._joined(of_whole, of_sentences)
        order = np.argsort(-scores, kind="stable")[:k]
        return Ranked(rows[order].astype(np.int64), scores[order])

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of these articles, on the scale of `best`, which is asked first."""
        return self._joined(self._whole.scores(rows), self._sentence_scores(rows))

    def _sentence_scores(self, rows: np.ndarray) -> np.ndarray:
        """Return (sentences, rows) float32."""
        return np.stack([sentence.scores(rows) for sentence in self._sentences])

    def _joined(self, whole: np.ndarray, sentence_scores: np.ndarray) -> np.ndarray:
        if not self._scales:
            return whole
        of_whole, *of_sentences, of_best = self._scales
        joined = self._of_whole * of_whole.units(whole) + _OF_BEST * of_best.units(sentence_scores.max(axis=0))
        for weight, scale, scores in zip(self._weights, of_sentences, sentence_scores, strict=True):
            joined += weight * scale.units(scores)
        return np.asarray(joined, dtype=np.float32)
