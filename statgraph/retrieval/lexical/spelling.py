"""Words that the law does not have, read as the nearest that it has: typing errors and missing accents."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

# Edits -> the letters that a word needs for as many; accents that are missing are no edits.
_MIN_LETTERS = {1: 4, 2: 8}
_SHORTEST = 3
_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss"})
_WORD_LISTS = {"bs": "hbs", "hr": "hbs", "no": "nb", "sr": "hbs"}  # ISO 639-1 code -> simplemma's where it differs


@dataclass(frozen=True)
class Correction:
    """The word of the law that a typed word is read as, and how many edits lie between them, accents not counted."""

    word: str
    edits: int


class Spelling:
    """Reads words as those of a law, by edit distance with transpositions (optimal string alignment).

    Only words of letters are read so, in scripts with capitals: Latin, Greek, Cyrillic.

    Args:
        words: returns those of the law, lower-case; called at the first word that is to be corrected.
        frequency: returns in how many texts a word's term occurs.
        is_real: whether a word is one of everyday language, and so no typing error.
        ignored: lower-case words that a question leaves out; what is nearest to one is left out too.
    """

    def __init__(
        self,
        words: Callable[[], Iterable[str]],
        frequency: Callable[[str], int],
        is_real: Callable[[str], bool],
        ignored: Collection[str] = (),
    ):
        self._words = words
        self._frequency = frequency
        self._is_real = is_real
        self._ignored = ignored
        self.correction = lru_cache(4096)(self._correction)

    def _correction(self, word: str) -> Correction | None:
        """Return what a lower-case word that the law does not have is read as, None where nothing is near.

        Of equally near words those with the same first letter come first, then those that more texts have.
        """
        from rapidfuzz import process
        from rapidfuzz.distance import OSA

        if not _is_corrected(word):
            return None
        plain = without_accents(word)
        length = len(plain)
        max_edits = max((edits for edits, letters in _MIN_LETTERS.items() if length >= letters), default=0)
        near = [(0, same) for same in self._by_length.get(length, {}).get(plain, ())]
        if not near and max_edits and not self._is_real(word):
            for n_letters in range(length - max_edits, length + max_edits + 1):
                spelt = self._by_length.get(n_letters, {})
                matches = process.extract(plain, spelt.keys(), scorer=OSA.distance, score_cutoff=max_edits, limit=None)
                near += [(int(edits), same) for other, edits, _ in matches for same in spelt[other]]
        if not near:
            return None
        edits, best = min(near, key=lambda pair: (pair[0], pair[1][0] != word[0], -self._frequency(pair[1]), pair[1]))
        return None if best in self._ignored else Correction(best, edits)

    @cached_property
    def _by_length(self) -> dict[int, dict[str, list[str]]]:
        """Return by length the law's words without accents, each with how it is spelt there."""
        by_length: dict[int, dict[str, list[str]]] = {}
        for word in {*self._words(), *self._ignored}:
            if _is_corrected(word):
                plain = without_accents(word)
                by_length.setdefault(len(plain), {}).setdefault(plain, []).append(word)
        return by_length


def in_word_list(word: str, language: str) -> bool:
    """Return whether a lower-case word is in simplemma's list of a language's words in all their inflections; False
    where it has no list. The first word of a language takes a second."""
    from simplemma import is_known

    try:
        return is_known(word, _WORD_LISTS.get(language, language), low_memory=True)
    except ValueError:  # as it says that it has no list
        return False


def without_accents(word: str) -> str:
    """Return a word without accents and ligatures."""
    decomposed = unicodedata.normalize("NFKD", word.translate(_LIGATURES))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def _is_corrected(word: str) -> bool:
    return len(word) >= _SHORTEST and word.isalpha() and word.upper() != word
