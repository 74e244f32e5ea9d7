"""The passage of an article that fits a question best, by the words that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from statgraph.lexical.bm25 import TermStatistics
from statgraph.lexical.sentences import sentence_spans


class PassageFinder:
    """Finds passages by the words that they share with a question, rare words first.

    Spans were tried by their vectors too, those of the run's query encoder and of its article encoder: what that gave,
    and what it takes, is in docs/explaining.md. `background` gives texts that show which words are rare; it is called
    once, at the first question.
    """

    def __init__(self, language: str, background: Callable[[], Sequence[str]]):
        self._language = language
        self._background = background

    def passages(self, question: str, texts: Sequence[str]) -> list[tuple[int, int] | None]:
        """Return (start, end) of the best passage of each text, None where it shares no word with the question.

        A word counts by how few of the background's texts hold it. Offsets count characters
        (Unicode code points); the first of equals is taken.
        """
        weights = {term: self._statistics.rarity(term) for term in self._statistics.terms(question)}
        return [self._best(weights, text) for text in texts]

    def _best(self, weights: Mapping[str, float], text: str) -> tuple[int, int] | None:
        best, most = None, 0.0
        for start, end in sentence_spans(text):
            weight = math.fsum(weights[term] for term in weights.keys() & set(self._statistics.terms(text[start:end])))
            if weight > most:
                best, most = (start, end), weight
        return best

    @cached_property
    def _statistics(self) -> TermStatistics:
        return TermStatistics(self._background(), language=self._language)
