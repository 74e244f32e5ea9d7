"""The numbers that a text gives behind words for articles, and those with which titles begin."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from statgraph.law.citations.grammar import (
    Grammar,
    Table,
    grammar_of,
    ordinal_values,
    plain_word,
    tables,
    words_pattern,
)
from statgraph.law.citations.numbers import LETTERS, article_number, digits_pattern, numeral_value, roman_value

# What the tables' words for an article call it; other numbered parts of a law are called by their own first word.
ARTICLE, SECTION, SHORT, ALOUD = "article", "section", "section_short", "section_aloud"
# A part that is called by the number of its article: "subsection 12(3)"; "paragraph 12(3)(a)" where that is a section.
INNER, INNER_SECTION = "inner", "inner_section"
MAIN_UNITS = frozenset((ARTICLE, SECTION, SHORT, ALOUD, INNER, INNER_SECTION))
_WITH_ITS_PART = re.compile(r"\s*\d+(?:\.\d+)*[A-Z]?\(\d")
_WORD_BEFORE = re.compile(r"[^\W\d_]+\s+$")
_NUMBER_IN_TITLE = re.compile(
    rf"(?:(?P<word>[^\W\d_]{{2,}}\.?)\s*)?(?P<letters>{LETTERS})?"
    rf"{digits_pattern(marks='er|º|ª', loose='[IVX]', bis_is_to=False)}(?P<alone>\W*$|[.,:;)\]]|\s+[^\W\d_a-z])?"
)


class Number(NamedTuple):
    """A number in the forms of `article_number` to look for it by, the best first; `through` if it ends a range."""

    keys: tuple[str, ...]
    through: bool = False


class NumberList(NamedTuple):
    """The numbers behind a word for articles, that word's unit, and where all of it is in the text."""

    numbers: tuple[Number, ...]
    unit: str
    start: int
    end: int
    grammar: Grammar

    def joins(self, text: str, following: int) -> bool:
        """Return whether nothing but "and" stands between these numbers and the place where others begin."""
        return self.grammar.joined.fullmatch(text, self.end, following) is not None


class TitleNumber(NamedTuple):
    """The number of an article in comparable form, and the unit that its title calls it, or a word of its own."""

    key: str
    unit: str


class _UnitWord(NamedTuple):
    unit: str
    languages: tuple[str, ...]
    spelled: tuple[str, ...]


class NumberReader:
    """Reads the numbers behind words for articles.

    Args:
        units: what articles may be called: units, or words of titles, which may have an s.
    """

    def __init__(self, units: Iterable[str]):
        units = set(units)
        every = {known.unit for known in _known_words().values()} | MAIN_UNITS
        # A word may be another unit's elsewhere: the English "paragraph", the German "Paragraph".
        words = dict(_known_words(frozenset(every - units)))
        languages = tuple(name for name, table in tables().items() if "before_number" not in table)
        for unit in units - every:
            words |= {form: _UnitWord(unit, languages, (form,)) for form in (unit, f"{unit}s")}
        self._words = words
        self._pattern = _any_word([spelled for word in words.values() for spelled in word.spelled])
        self._met: dict[str, tuple[str, Grammar]] = {}

    def lists(self, text: str) -> Iterator[NumberList]:
        """Yield the numbers of a text, in its order."""
        word = self._pattern.search(text)
        while word is not None:
            found = self._beside(text, word)
            if found.numbers:
                yield found
            word = self._pattern.search(text, found.end)

    def number_of(self, title: str) -> TitleNumber | None:
        """Return the number with which a title begins, behind a word for an article or before one."""
        first_word = re.match(r"[^\W\d_]*\s*", title)
        assert first_word is not None  # it may be empty
        word = self._pattern.match(title) or self._pattern.match(title, first_word.end())
        found = self._beside(title, word) if word else None
        if found is None or not found.numbers or found.start:
            return None
        # "Art. 3 A" is a number, and "Art. 3 A quien" is not.
        keys = found.numbers[0].keys
        return TitleNumber(keys[-1] if re.match(r"\s+[^\W\d_A-ZÀ-Þ]", title[found.end :]) else keys[0], found.unit)

    def _beside(self, text: str, word: re.Match[str]) -> NumberList:
        """Return the numbers behind a word, or the ordinal before one ("Erster Abschnitt")."""
        met = self._met.get(word[0])
        if met is None:
            known = self._words[plain_word(word[0]).rstrip(". ")]
            met = self._met[word[0]] = known.unit, grammar_of(known.languages, sign="§" in word[0])
        unit, grammar = met
        start = word.start()
        if grammar.number_first is not None:
            numbers, end = _numbers_before_unit(text, word.end(), grammar, grammar.number_first)
        elif unit not in (INNER, INNER_SECTION) or _WITH_ITS_PART.match(text, word.end()):
            numbers, end = _numbers_behind_unit(text, word.end(), grammar)
        else:
            numbers, end = [], word.end()
        if not numbers and unit not in MAIN_UNITS:
            before = _WORD_BEFORE.search(text, max(0, start - 20), start)
            value = before and _ordinal_value(before[0].strip())
            if before and value:
                numbers, start = [Number((value,))], before.start()
        return NumberList(tuple(numbers), unit, start, end, grammar)


def _numbers_behind_unit(text: str, at: int, grammar: Grammar) -> tuple[list[Number], int]:
    """Return the numbers from a place on, and where they end."""
    match = grammar.first.match(text, at)
    numbers: list[Number] = []
    letters, in_digits = "", match is not None and match["digits"] is not None
    while match is not None and (match["digits"] is not None) == in_digits:  # not the II of "article 5, II"
        through = bool(numbers) and match["through"] is not None
        if in_digits:
            digits, own = match["digits"] + match["added"], match["letters"]
            letters = own or letters
            keys = [letters + digits + match["loose"]] if match["loose"] else []
            keys += [letters + digits] if own or not letters else [letters + digits, digits]
            numbers.append(Number(tuple(map(article_number, keys)), through))
        else:
            value = str(roman_value(match["roman"])) if match["roman"] else _ordinal_value(match["ordinal"])
            numbers.append(Number((value,), through))
        at = match.end()
        match = grammar.next.match(text, at)
    return numbers, at


def _numbers_before_unit(text: str, at: int, grammar: Grammar, table: Table) -> tuple[list[Number], int]:
    """Return the numbers from a place on that stand before a word for an article, and where they end."""
    digits, units = table["digits"], table["units"]
    numbers: list[Number] = []
    read, end = 0, at
    match = grammar.first.match(text, at)
    while match is not None:
        key = numeral_value(match["numeral"], digits, units)
        key += f"-{numeral_value(match['branch'], digits, units)}" if match["branch"] else ""
        numbers.append(Number((key,), bool(numbers) and match["through"] is not None))
        if match["unit"]:
            read, end = len(numbers), match.end()
        match = grammar.next.match(text, match.end())
    return numbers[:read], end


def title_numbers(titles: Sequence[str], codes: Sequence[str]) -> list[TitleNumber | None]:
    """Return the number of each title, None for a title without one.

    It stands behind a word for an article, or the word that most titles of the code have before their numbers, if any.
    """
    reader = NumberReader(known.unit for known in _known_words().values())
    begun = [re.sub(r"^[^\w§]+", "", title.removeprefix(code)) for title, code in zip(titles, codes, strict=True)]
    numbers = [reader.number_of(title) for title in begun]
    others = [None if number else _NUMBER_IN_TITLE.match(title) for title, number in zip(begun, numbers, strict=True)]
    words = [match and _own_word(match) for match in others]
    counts, sizes = Counter(zip(codes, words, strict=True)), Counter(codes)
    for row, (match, word, code) in enumerate(zip(others, words, codes, strict=True)):
        if match and word is not None and 2 * counts[code, word] > sizes[code]:
            number = (match["letters"] or "") + match["digits"] + match["added"]
            numbers[row] = TitleNumber(article_number(number), word)
    return numbers


def _own_word(match: re.Match[str]) -> str | None:
    """Return the word before the number in a title in plain letters, "" for none, None where it may be no number."""
    return plain_word(match["word"]).rstrip(".") if match["word"] else None if match["alone"] is None else ""


@cache
def _known_words(but: frozenset[str] = frozenset()) -> dict[str, _UnitWord]:
    """Return the words of all languages for a numbered part of a law, in plain letters, but for those of some units."""
    found: dict[str, _UnitWord] = {}
    for language, table in tables().items():
        groups = [(unit, table[unit]) for unit in MAIN_UNITS if unit in table]
        if "before_number" in table:
            groups = [(ARTICLE, [table["before_number"]])]
        groups += [(plain_word(forms[0]), forms) for forms in table.get("others", ())]
        for unit, spelled in ((unit, word) for unit, forms in groups if unit not in but for word in forms):
            plain = plain_word(spelled).rstrip(".")
            known = found.get(plain, _UnitWord(unit, (), ()))
            found[plain] = _UnitWord(known.unit, (*known.languages, language), (*known.spelled, spelled))
    return found


@cache
def other_units() -> frozenset[str]:
    """Return the units that are numbered apart from articles: schedules, annexes, transitional provisions."""
    return frozenset(known.unit for known in _known_words().values()) - MAIN_UNITS


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of any of the words that tries a place by its first letter alone: twice as fast."""
    by_letter: dict[str, list[str]] = {}
    for word in words:
        by_letter.setdefault(word[0].lower(), []).append(word[1:])
    whole = r"(?:\.|(?<![A-Za-zÀ-ɏ])|(?![^\W\d_]))"
    branches = [
        rf"(?<=[{letter}{letter.upper()}]){words_pattern(rest, ending=whole)}" for letter, rest in by_letter.items()
    ]
    letters = "".join(letter + letter.upper() for letter in by_letter)
    return re.compile(rf"[{letters}](?:(?<![^\W_].)|(?<![A-Za-zÀ-ɏ]))(?:{'|'.join(branches)})")


@cache
def _ordinal_value(word: str) -> str:
    """Return the number of an ordinal, "" if it has none."""
    plain = plain_word(word)
    return next((str(value) for pattern, value in ordinal_values() if pattern.fullmatch(plain)), "")
