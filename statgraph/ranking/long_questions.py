"""Long questions, such as a letter: read as a whole and by sentence, since most of what they tell asks nothing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.corpus.query import Ranked
from statgraph.lexical.bm25 import BM25
from statgraph.lexical.sentences import sentence_spans
from statgraph.signals.signal import Answer, Asked

_LONG = 240  # characters
_SENTENCES = 4  # that a long question has at least
_READ = 5  # sentences that the signals read
_ASKED = 1.5  # what a question mark is worth, in standard deviations of the strengths of a question's sentences
_OF_WHOLE = 0.5  # weight of the whole beside the best sentence
_DEPTH = 200  # place whose distance from the best is the unit of a reading's scores


def asked(questions: Sequence[str], bm25: BM25 | None) -> tuple[Asked, list[int]]:
    """Return what signals are asked, each question followed by its sentences that are read, and how many texts each
    question has."""
    texts: list[str] = []
    counts, parts = [], {}
    for question in questions:
        sentences = telling_sentences(question, bm25)
        if sentences:
            parts[len(texts)] = range(len(texts) + 1, len(texts) + 1 + len(sentences))
        texts += question, *sentences
        counts.append(1 + len(sentences))
    return Asked(texts, parts), counts


def telling_sentences(question: str, bm25: BM25 | None) -> list[str]:
    """Return the sentences of a long question that are read apart, at most five; none for a short one.

    They are those that score highest: BM25 of the best article, divided by the root of the length, standardised within
    the question, and 1.5 more for a question mark.
    """
    if len(question) < _LONG:
        return []
    sentences = [question[start:end] for start, end in sentence_spans(question)]
    if len(sentences) < _SENTENCES:
        return []
    strengths = np.zeros(len(sentences))
    if bm25 is not None:
        strengths += [float(bm25.scores(sentence).max()) / math.sqrt(len(sentence)) for sentence in sentences]
        strengths = (strengths - strengths.mean()) / (strengths.std() or 1.0)
    strengths += [_ASKED * _asks(sentence) for sentence in sentences]
    kept = np.sort(np.argsort(-strengths, kind="stable")[:_READ])
    return [sentences[place] for place in kept]


def _asks(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)） ").endswith(("?", "？"))


def answers_of(answers: Sequence[Answer], counts: Sequence[int]) -> Iterator[Answer]:
    """Yield one answer for each question from those to its texts, as `asked` counts them."""
    start = 0
    for count in counts:
        whole, *to_sentences = answers[start : start + count]
        yield LongAnswer(whole, to_sentences) if to_sentences else whole
        start += count


class LongAnswer:
    """What a signal says of a long question.

    An article has its best score among the sentences and half of its score for the whole, each in units of the distance
    between the best article and the two-hundredth; the sum is on the scale of the sentences.
    """

    def __init__(self, whole: Answer, to_sentences: Sequence[Answer]):
        self._whole = whole
        self._sentences = to_sentences
        self._units: tuple[_Unit, _Unit] | None = None
        self.confidence = whole.confidence

    @property
    def floor(self) -> float | None:
        """Return what an article has that neither the whole nor a sentence proposes."""
        floor = self._whole.floor
        return floor if floor is None else float(self._joined(np.float32(floor), np.float32(floor)))

    def best(self, k: int, allowed: AllowedRows | None) -> Ranked:
        """Return the best `k` of what the whole and each sentence propose, ties by row."""
        of_whole = self._whole.best(k, allowed)
        rows = np.unique(np.concatenate([of_whole.rows, *(part.best(k, allowed).rows for part in self._sentences)]))
        if not len(rows):
            return of_whole
        best_sentence = self._best_sentence(rows)
        self._units = _Unit.between(of_whole.scores), _Unit.between(np.sort(best_sentence)[::-1])
        scores = self._joined(self._whole.scores(rows), best_sentence)
        order = np.argsort(-scores, kind="stable")[:k]
        return Ranked(rows[order].astype(np.int64), scores[order])

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """Return the scores of these articles, on the scale of `best`, which is asked first."""
        return self._joined(self._whole.scores(rows), self._best_sentence(rows))

    def _best_sentence(self, rows: np.ndarray) -> np.ndarray:
        return np.stack([part.scores(rows) for part in self._sentences]).max(axis=0)

    def _joined(self, whole: np.ndarray, best_sentence: np.ndarray) -> np.ndarray:
        if self._units is None:
            return whole
        of_whole, of_sentence = self._units
        joined = (_OF_WHOLE * of_whole.units(whole) + of_sentence.units(best_sentence)) / (1 + _OF_WHOLE)
        return np.asarray(of_sentence.low + of_sentence.span * joined, dtype=np.float32)


@dataclass(frozen=True)
class _Unit:
    low: float
    span: float

    @classmethod
    def between(cls, falling: np.ndarray) -> _Unit:
        """Return the unit of scores, best first."""
        if not len(falling):
            return cls(0.0, 1.0)
        low = float(falling[min(_DEPTH, len(falling)) - 1])
        return cls(low, float(falling[0]) - low or 1.0)

    def units(self, scores: np.ndarray) -> np.ndarray:
        return (scores - self.low) / self.span
