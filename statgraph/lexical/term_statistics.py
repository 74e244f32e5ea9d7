"""How many texts hold each term: what BM25 weighs the terms of a few texts by, without an index of all of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from statgraph.lexical.analysis import analyser
from statgraph.lexical.bm25 import TermWeight


class TermStatistics:
    """The terms of texts, counted; the texts themselves are not kept. Weights are those of `BM25`, and its defaults.

    Args:
        texts: the articles' texts, headings in front where they count; gone through once.
        language: ISO 639-1 code that picks the stemmer.
        k1: term-frequency saturation.
        b: length normalisation.

    Attributes:
        terms: the function from a text to its terms.
    """

    def __init__(self, texts: Iterable[str], *, language: str, k1: float = 2.5, b: float = 0.2):
        self.terms = analyser(language)
        self._k1, self._b = k1, b
        self._holding: Counter[str] = Counter()  # term -> texts that hold it
        self._n_texts = n_terms = 0
        for text in texts:
            terms = self.terms(text)
            self._holding.update(set(terms))
            self._n_texts += 1
            n_terms += len(terms)
        self._mean_length = n_terms / max(1, self._n_texts)

    def term_weights(self, question: str, texts: Sequence[str]) -> list[list[TermWeight]]:
        """Return for each of these texts, which were counted, the question's terms that it holds, heaviest first; the
        weights add up to its BM25 score."""
        asked = Counter(term for term in self.terms(question) if term in self._holding)
        return [self._weights(asked, text) for text in texts]

    def _weights(self, asked: Counter[str], text: str) -> list[TermWeight]:
        terms = self.terms(text)
        held = Counter(terms)
        damping = self._k1 * (1 - self._b + self._b * len(terms) / self._mean_length) if terms else 0.0
        weights = [
            TermWeight(term, times * self.rarity(term) * held[term] / (held[term] + damping))
            for term, times in asked.items()
            if term in held
        ]
        return sorted(weights, key=lambda part: (-part.weight, part.term))

    def rarity(self, term: str) -> float:
        """Return how much a term counts by how few texts hold it (df of n): ln(1 + (n - df + 0.5) / (df + 0.5))."""
        holding = self._holding[term]
        return math.log(1 + (self._n_texts - holding + 0.5) / (holding + 0.5))
