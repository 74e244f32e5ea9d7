"""Compounds, as German writes them, split into words that the law has too."""

from __future__ import annotations

from collections.abc import Container, Iterator
from functools import lru_cache

from statgraph.retrieval.lexical.analysis import stemmer, stop_words_of

# ISO 639-1 code -> what may stand between two parts. Only the German ones were measured (docs/ranking.md).
LINKS = {
    "da": ("s", "e"), "de": ("s", "es", "n", "en", "e", "er"), "nb": ("s", "e"), "nl": ("s", "en", "n", "e"),
    "nn": ("s", "e"), "no": ("s", "e"), "sv": ("s", "e", "o", "u"),
}  # fmt: skip
_SHORTEST = 4  # letters of a part


class Compounds:
    """Splits words into as few as can be that a law has: Kündigungsfrist into Kündigung and Frist.

    Args:
        language: ISO 639-1 code; a language without `LINKS` has no compounds.
        terms: the law's, stemmed.

    Attributes:
        spelt: by the term of a part that was found, how it is spelt, the shortest of several ways.
    """

    def __init__(self, language: str, terms: Container[str]):
        self._links = ("", *LINKS[language]) if language in LINKS else ()
        self._stem = stemmer(language)
        self._stop_words = stop_words_of(language)
        self._terms = terms
        self.spelt: dict[str, str] = {}
        self.parts = lru_cache(1 << 16)(self._parts)

    def _parts(self, word: str) -> tuple[str, ...]:
        """Return the terms of a lower-case word's parts, none if it is no compound of the law's words."""
        if not self._links or len(word) < 2 * _SHORTEST or not word.isalpha():
            return ()
        starts = range(_SHORTEST, len(word) - _SHORTEST + 1)  # of the last part, the longest first
        lasts = [(start, self._known(word[start:])) for start in starts]
        before = [(first, last) for start, last in lasts if last for first in self._before(word[:start])]
        simple = ((self._known(first), last) for first, last in before)
        nested = ((*self.parts(first), last) for first, last in before)
        return next((parts for parts in simple if parts[0]), ()) or next((parts for parts in nested if parts[1:]), ())

    def _before(self, beginning: str) -> Iterator[str]:
        """Yield what may stand before the last part, without what links the two."""
        for link in self._links:
            if beginning.endswith(link):
                yield beginning.removesuffix(link)

    def _known(self, part: str) -> str:
        """Return the term of a part, "" if it is too short, a stop word or no word of the law's."""
        if len(part) < _SHORTEST or part in self._stop_words:
            return ""
        (term,) = self._stem([part])
        if term not in self._terms:
            return ""
        self.spelt[term] = min(part, self.spelt.get(term, part), key=len)
        return term
