"""How a question's words are read: typing errors as words of the law, and synonyms beside the words typed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from statgraph.law.synonyms import Synonyms
from statgraph.retrieval.lexical.analysis import analyser, question_analyser, words_of_terms
from statgraph.retrieval.lexical.spelling import WEIGHTS, Correction, Spelling

SYNONYM_WEIGHT = 0.5  # of a typed word; the words of a synonym of several share it


@dataclass(frozen=True)
class AddedTerm:
    """A term that is searched for beside those typed.

    Attributes:
        term: as BM25 counts it, stemmed.
        word: that it stands for.
        weight: where a typed term has 1.
        replaces: the typed term that it stands for, if the law does not have that one.
    """

    term: str
    word: str
    weight: float
    replaces: str | None


class QuestionReader:
    """Reads the questions to one law, for all of its indexes.

    Args:
        language: of the law.
        stop_words: whether those of a question count.
        known: the law's terms.
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
        self._text_terms = analyser(language)
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
        self._read = lru_cache(256)(self._added)

    def added(self, question: str, terms: Sequence[str]) -> tuple[AddedTerm, ...]:
        """Return what is searched for beside the terms of a question."""
        if not self._synonyms and all(term in self._known for term in terms):
            return ()
        return self._read(question)

    def corrected(self, question: str) -> dict[str, str]:
        """Return the words of a question that are read as others, but for missing accents, each with the other."""
        corrections = self._corrections(question, self._terms(question))
        return {word: correction.word for word, correction in corrections.values() if correction.edits}

    def _corrections(self, question: str, terms: Sequence[str]) -> dict[str, tuple[str, Correction]]:
        """Return by term the word of a question, and what it is read as."""
        unknown = [term for term in terms if term not in self._known and term not in self._synonyms]
        if self._spelling is None or not unknown:
            return {}
        words, corrections = words_of_terms(question, self._language), {}
        for term in unknown:
            word = words[term]
            is_abbreviation = word.upper() in question and not question.isupper()
            correction = None if is_abbreviation else self._spelling.correction(word)
            if correction is not None:
                corrections[term] = word, correction
        return corrections

    def _added(self, question: str) -> tuple[AddedTerm, ...]:
        typed = self._terms(question)
        added: dict[str, AddedTerm] = {}
        terms = list(typed)  # as they are read
        for term, (_, correction) in self._corrections(question, typed).items():
            (read,) = self._text_terms(correction.word)
            terms = [read if other == term else other for other in terms]
            added.setdefault(read, AddedTerm(read, correction.word, WEIGHTS[correction.edits], term))
        for at, meaning in self._meanings(terms):
            replaces = None if terms[at] in self._known else terms[at]
            parts = self._terms(meaning)
            words = words_of_terms(meaning, self._language)
            for part in parts:
                added.setdefault(part, AddedTerm(part, words[part], SYNONYM_WEIGHT / len(parts), replaces))
        return tuple(part for part in added.values() if part.term not in typed)

    def _meanings(self, terms: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield where a word or phrase with synonyms begins, and each of these."""
        for at, first in enumerate(terms):
            for phrase, meaning in self._synonyms.get(first, ()):
                if list(terms[at : at + len(phrase)]) == phrase:
                    yield at, meaning
