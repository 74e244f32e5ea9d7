"""How a question is read: its typing errors as words of the law, and synonyms beside the words typed."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from statgraph.law.normal_text import normal_text
from statgraph.law.synonyms import Synonyms
from statgraph.retrieval.lexical.analysis import lower_case, question_analyser, word_pattern, words_of_terms
from statgraph.retrieval.lexical.spelling import Correction, Spelling

SYNONYM_WEIGHT = 0.5  # where a word of the question has 1; the words of a synonym of several share it

_NOUNS_IN_CAPITALS = ("de", "lb")  # ISO 639-1 codes


@dataclass(frozen=True)
class AddedTerm:
    """A term that is searched for beside those of a question.

    Attributes:
        term: as BM25 counts it, stemmed.
        word: that it stands for.
        weight: where a term of the question has 1.
        replaces: the question's term that it stands for, if the law does not have that one.
    """

    term: str
    word: str
    weight: float
    replaces: str | None


class QuestionReader:
    """Reads the questions to one law, for all of its signals.

    Args:
        language: of the law.
        stop_words: whether those of a question count.
        known: the terms of the law and of the texts that cite it.
        spelling: its words, None to correct nothing.
        synonyms: the user's.
    """

    def __init__(
        self,
        language: str,
        *,
        stop_words: bool,
        known: Container[str],
        spelling: Spelling | None,
        synonyms: Iterable[Synonyms] = (),
    ):
        self._language = language
        self._terms = question_analyser(language, stop_words=stop_words)
        self._words = question_analyser(language, stop_words=stop_words, stemmed=False)
        self._known = known
        self._spelling = spelling
        # By the first term of a word or phrase: all its terms, and what it may mean.
        self._synonyms: dict[str, list[tuple[list[str], str]]] = {}
        for line in synonyms:
            for word in line.words:
                terms = self._terms(word)
                for meaning in line.meanings:
                    if terms != self._terms(meaning):
                        self._synonyms.setdefault(terms[0], []).append((terms, meaning))
        self.corrected = lru_cache(256)(self._corrected)

    def _corrected(self, question: str) -> str:
        """Return a question with its typing errors and missing accents corrected."""
        corrections = self._corrections(question)
        if not corrections:
            return question
        return word_pattern().sub(lambda word: self._spelt(word.group(), corrections), normal_text(question))

    def _spelt(self, typed: str, corrections: Mapping[str, Correction]) -> str:
        correction = corrections.get(lower_case(typed, self._language))
        if correction is None:
            return typed
        word = correction.word
        if typed.isupper():
            return word.upper()
        return word[:1].upper() + word[1:] if typed[:1].isupper() else word

    def corrected_words(self, question: str) -> dict[str, str]:
        """Return the words of a question that are read as others, but for missing accents, each with the other."""
        return {word: correction.word for word, correction in self._corrections(question).items() if correction.edits}

    def _corrections(self, question: str) -> dict[str, Correction]:
        """Return by lower-case word of a question what it is read as, if otherwise than typed."""
        if self._spelling is None:
            return {}
        corrections = {}
        for term, word in zip(self._terms(question), self._words(question), strict=True):
            if term not in self._known and term not in self._synonyms and not self._is_name(word, question):
                correction = self._spelling.correction(word)
                if correction is not None:
                    corrections[word] = correction
        return corrections

    def _is_name(self, word: str, question: str) -> bool:
        """Return whether a question has a word in capitals, as an abbreviation, or with a capital within a sentence, as
        a name."""
        if question.isupper():
            return False
        within = rf"[^.?!\s] {re.escape(word[:1].upper() + word[1:])}\b"
        has_capital = self._language not in _NOUNS_IN_CAPITALS and re.search(within, question) is not None
        return has_capital or word.upper() in question

    def added(self, question: str) -> list[AddedTerm]:
        """Return the terms of the synonyms of a question, which was read."""
        if not self._synonyms:
            return []
        terms, added = self._terms(question), dict[str, AddedTerm]()
        for at, meaning in self._meanings(terms):
            replaces = None if terms[at] in self._known else terms[at]
            parts = self._terms(meaning)
            words = words_of_terms(meaning, self._language)
            for part in parts:
                added.setdefault(part, AddedTerm(part, words[part], SYNONYM_WEIGHT / len(parts), replaces))
        return [part for part in added.values() if part.term not in terms]

    def _meanings(self, terms: list[str]) -> Iterator[tuple[int, str]]:
        """Yield where a word or phrase with synonyms begins, and each of these."""
        for at, first in enumerate(terms):
            for phrase, meaning in self._synonyms.get(first, ()):
                if terms[at : at + len(phrase)] == phrase:
                    yield at, meaning
