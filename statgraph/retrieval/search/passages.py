"""The passage of an article that fits a question best, by the words that they share, else by its meaning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from statgraph.retrieval.lexical.analysis import analyser, question_analyser
from statgraph.retrieval.lexical.bm25 import TermStatistics
from statgraph.retrieval.lexical.sentences import sentence_spans

_PER_TEXT = 16  # sentences of an article that shares no word with the question, which are encoded


@dataclass(frozen=True)
class SentenceEncoder:
    """From texts to vectors (texts, width), and how many sentences are encoded for one question at most."""

    encode: Callable[[Sequence[str]], np.ndarray]
    most: int


class PassageFinder:
    """Finds passages by the words that they share with a question, rare words first; without such a word, by vectors.

    Args:
        language: of the law.
        background: gives texts that show which words are rare; called once, at the first question.
        encoder: None where articles are found by words alone.
    """

    def __init__(self, language: str, background: Callable[[], Sequence[str]], encoder: SentenceEncoder | None = None):
        self._language = language
        self._background = background
        self._encoder = encoder
        self._question_terms = question_analyser(language, stop_words=False)

    def passages(self, question: str, texts: Sequence[str]) -> list[tuple[int, int] | None]:
        """Return (start, end) of the best passage of each text, None where there is none.

        A word counts by how few of the background's texts hold it, stop words not at all. A text that shares no word
        has the sentence whose vector is nearest to the question's, among its first 16 and the first of all texts that
        the encoder has time for.
        Offsets count characters (Unicode code points); the first of equals is taken.
        """
        weights = {term: self._statistics.rarity(term) for term in self._question_terms(question)}
        found = [self._best(weights, text) for text in texts]
        return found if self._encoder is None else self._with_nearest(self._encoder, question, texts, found)

    def words(self, question: str, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, lower-case and each once, that are words of the question in whatever form."""
        asked = set(self._question_terms(question))
        terms, words = analyser(self._language), analyser(self._language, stemmed=False)
        return [
            list(dict.fromkeys(word for term, word in zip(terms(text), words(text), strict=True) if term in asked))
            for text in texts
        ]

    def _best(self, weights: Mapping[str, float], text: str) -> tuple[int, int] | None:
        best, most = None, 0.0
        for start, end in sentence_spans(text):
            weight = math.fsum(weights[term] for term in weights.keys() & set(self._statistics.terms(text[start:end])))
            if weight > most:
                best, most = (start, end), weight
        return best

    def _with_nearest(
        self, encoder: SentenceEncoder, question: str, texts: Sequence[str], found: list[tuple[int, int] | None]
    ) -> list[tuple[int, int] | None]:
        spans = [
            (place, span)
            for place, text in enumerate(texts)
            if found[place] is None
            for span in sentence_spans(text)[:_PER_TEXT]
        ][: encoder.most]
        if not spans:
            return found
        vectors = encoder.encode([question, *(texts[place][start:end] for place, (start, end) in spans)])
        nearness = vectors[1:] @ vectors[0] / np.maximum(np.linalg.norm(vectors[1:], axis=1), 1e-12)
        nearest = dict(spans[at] for at in np.argsort(-nearness, kind="stable")[::-1])  # the nearest comes last
        return [nearest.get(place, passage) for place, passage in enumerate(found)]

    @cached_property
    def _statistics(self) -> TermStatistics:
        return TermStatistics(self._background(), language=self._language)
