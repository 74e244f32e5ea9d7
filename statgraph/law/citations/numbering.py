"""The numbers that a text gives behind words for articles, and those with which titles begin."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from statgraph.law.citations.grammar import Grammar, all_words, grammar_of, plain_word, words_pattern
from statgraph.law.citations.numbers import (
    LATIN,
    LETTERS,
    article_number,
    digits_pattern,
    numeral_value,
    roman_value,
    with_plain_hyphens,
)
from statgraph.law.citations.tables import Table, tables
from statgraph.law.normal_text import normal_text

# What the tables' words for an article call it; other numbered parts of a law are called by their own first word.
ARTICLE, SECTION, SHORT, ALOUD = "article", "section", "section_short", "section_aloud"
# A part that is called by the number of its article: "subsection 12(3)"; "paragraph 12(3)(a)" where that is a section.
INNER, INNER_SECTION = "inner", "inner_section"
MAIN_UNITS = frozenset((ARTICLE, SECTION, SHORT, ALOUD, INNER, INNER_SECTION))
_WITH_ITS_PART = re.compile(r"\s*\d+(?:\.\d+)*[A-Z]?\(\d")
LOOK_BACK = 60  # characters before a number in which the volume of a collection is named
DASHES = "–—"
_DASHED = re.compile(r"(?P<letter>[^\W\d_])?(?<!\d)(?P<first>\d+)(?P<added>\w*)[–—](?P<second>\d+)")
_CAPITALS = re.compile(
    rf"(?:[^\W\d_]{{2,}}\.?\s|§+\s?)?(?:{LETTERS})?\d[\d.-]*(?:\s?-?{LATIN})?(?:-\d+)?\s(?P<capitals>[A-Z]{{2}})\b"
)
_MOST_PARTS = 9  # of an article, nearly always
_WORD_BEFORE = re.compile(r"[^\W\d_]+\s+$")
_NUMBER_IN_TITLE = re.compile(
    rf"(?:(?P<word>[^\W\d_]{{2,}}\.?)\s*)?(?P<letters>{LETTERS})?"
    rf"{digits_pattern(marks='er|º|ª', loose='[IVX]', bis_is_to=False)}(?P<alone>\W*$|[.,:;)\]]|\s+[^\W\d_a-z])?"
)


class Number(NamedTuple):
    """A number in the forms of `article_number` to look for it by, the best first; `through` if it ends a range, with
    `dashed` if it stands right behind a dash, so that it may go on the one before: "1395w–4"."""

    keys: tuple[str, ...]
    through: bool = False
    dashed: bool = False


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
        capitals: pairs that stand apart in numbers: "39 AH".
    """

    def __init__(self, units: Iterable[str], capitals: Iterable[str] = ()):
        self._capitals = frozenset(capitals)
        units = set(units)
        every = {known.unit for known in _known_words().values()} | MAIN_UNITS
        # A word may be another unit's elsewhere: the English "paragraph", the German "Paragraph".
        words = dict(_known_words(frozenset(every - units)))
        languages = tuple(name for name, table in tables().items() if "before_number" not in table)
        for unit in units - every:
            words |= {form: _UnitWord(unit, languages, (form,)) for form in (unit, f"{unit}s")}
        self._words = words
        spelled = [form for word in words.values() for form in word.spelled]
        ending = r"(?:\.|(?<![A-Za-zÀ-ɏ])|(?![^\W\d_]))"
        self._pattern = re.compile(rf"(?:(?<![^\W_])|(?![A-Za-zÀ-ɏ])){words_pattern(spelled, ending=ending)}")

    def lists(self, text: str) -> Iterator[NumberList]:
        """Yield the numbers of a text, in its order."""
        text = with_plain_hyphens(text)
        word = self._pattern.search(text)
        while word is not None:
            found = self._beside(text, word)
            if found.numbers:
                yield found
            word = self._pattern.search(text, found.end)

    def number_of(self, title: str) -> TitleNumber | None:
        """Return the number with which a title begins, behind a word for an article or before one."""
        title = _DASHED.sub(_as_hyphen, with_plain_hyphens(title))
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
        start, form = word.start(), _plain_form(word[0])
        unit, languages, _ = self._words[form]
        grammar = grammar_of(languages, sign="§" in word[0], capitals=self._capitals)
        if form in _forms_of("collections"):
            before = grammar.volume_before.search(text[max(0, start - LOOK_BACK) : word.end()])
            numbers, end = _numbers_behind_unit(text, word.end(), grammar) if before else ([], word.end())
            return NumberList(tuple(numbers), unit, word.end(), end, grammar)
        if grammar.number_first:
            numbers, end = _numbers_before_unit(text, word.end(), grammar, grammar.number_first)
        elif unit not in (INNER, INNER_SECTION) or _WITH_ITS_PART.match(text, word.end()):
            several = form in _forms_of("several")
            numbers, end = _numbers_behind_unit(text, word.end(), grammar, several=several)
            if several and len(numbers) == 1:  # the others may have been read as parts of this one
                numbers, end = _numbers_behind_unit(text, word.end(), grammar, several=True, most_parts=0)
        else:
            numbers, end = [], word.end()
        if not numbers and unit not in MAIN_UNITS:
            before = _WORD_BEFORE.search(text, max(0, start - 20), start)
            value = before and grammar.ordinal_value(before[0].strip())
            if before and value:
                numbers, start = [Number((value,))], before.start()
        return NumberList(tuple(numbers), unit, start, end, grammar)


def _as_hyphen(number: re.Match[str]) -> str:
    """Return a number in a title with a hyphen for a dash, but for a range: "1395w–4", and not "12–14"."""
    is_range = not (number["letter"] or number["added"]) and int(number["first"]) < int(number["second"])
    return number[0] if is_range else re.sub("[–—]", "-", number[0])


def _numbers_behind_unit(
    text: str, at: int, grammar: Grammar, *, several: bool = False, most_parts: int = _MOST_PARTS
) -> tuple[list[Number], int]:
    """Return the numbers from a place on, and where they end.

    Of `several` articles, behind one with a number above `most_parts` a still higher number in a list of its parts is
    the next article: the 140 of "§§ 138 Abs. 1 Nr. 2 bis 4, 140".
    """
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
            dashed = through and text[at] in DASHES and match.start("digits") == at + 1
            numbers.append(Number(tuple(map(article_number, keys)), through, dashed))
        else:
            value = str(roman_value(match["roman"])) if match["roman"] else grammar.ordinal_value(match["ordinal"])
            numbers.append(Number((value,), through))
        at = match.end()
        if in_digits and (several or len(numbers) > 1):
            at = _end_of_parts(match, grammar, most_parts)
        match = grammar.next.match(text, at)
    return numbers, at


def _end_of_parts(match: re.Match[str], grammar: Grammar, most_parts: int) -> int:
    """Return where the parts of an article end, in a match of its number with them."""
    article = re.match(r"\d+", match["digits"])
    assert article is not None  # a number begins with a digit
    number = int(article[0])
    if number <= most_parts:
        return match.end()
    for listed in grammar.listed.finditer(match.string, match.end("digits"), match.end()):
        before = match.string[match.end("digits") : listed.start()]
        if (int(listed["digits"]), listed["letter"]) > (number, "") and before.count("(") == before.count(")"):
            return listed.start()
    return match.end()


def _numbers_before_unit(text: str, at: int, grammar: Grammar, table: Table) -> tuple[list[Number], int]:
    """Return the numbers from a place on that stand before a word for an article, and where they end."""
    digits, units = table["digits"], table["units"]
    numbers: list[Number] = []
    read, end = 0, at
    match = grammar.first.match(text, at)
    while match is not None:
        branches = re.split(f"[^{''.join((*digits, *units))}\\d]+", match["branches"] or "")
        parts = [match["numeral"], match["inner"], *branches]
        key = "-".join(numeral_value(part, digits, units) for part in parts if part)
        numbers.append(Number((key,), bool(numbers) and match["through"] is not None))
        if match["unit"]:
            read, end = len(numbers), match.end()
        match = grammar.next.match(text, match.end())
    return numbers[:read], end


def title_numbers(titles: Sequence[str], codes: Sequence[str]) -> list[TitleNumber | None]:
    """Return the number of each title, None for a title without one.

    It stands behind a word for an article, or the word that most titles of the code have before their numbers, if any.
    """
    titles, codes = (list(map(normal_text, texts)) for texts in (titles, codes))
    reader = NumberReader((known.unit for known in _known_words().values()), capitals_apart(titles, codes))
    # The "18 U.S.C." of "18 U.S.C. § 1028".
    volume = re.compile(rf"\d+[A-Z]?\s{words_pattern(all_words('collections'))}\s*(?=[§\d])")
    begun = [re.sub(r"^[^\w§]+", "", title.removeprefix(code)) for title, code in zip(titles, codes, strict=True)]
    begun = [title[match.end() :] if (match := volume.match(title)) else title for title in begun]
    numbers = [reader.number_of(title) for title in begun]
    others = [None if number else _NUMBER_IN_TITLE.match(title) for title, number in zip(begun, numbers, strict=True)]
    words = [match and _own_word(match) for match in others]
    counts, sizes = Counter(zip(codes, words, strict=True)), Counter(codes)
    for row, (match, word, code) in enumerate(zip(others, words, codes, strict=True)):
        if match and word is not None and 2 * counts[code, word] > sizes[code]:
            number = (match["letters"] or "") + match["digits"] + match["added"]
            numbers[row] = TitleNumber(article_number(number), word)
    return numbers


def capitals_apart(titles: Sequence[str], codes: Sequence[str]) -> set[str]:
    """Return the pairs of capitals that stand apart in the numbers of titles, as in "39 AH", and are no abbreviation of
    a code, which most of its titles would have."""
    found = [_CAPITALS.match(title.removeprefix(code).lstrip(" ,")) for title, code in zip(titles, codes, strict=True)]
    counts = Counter((code, match["capitals"]) for code, match in zip(codes, found, strict=True) if match)
    sizes = Counter(codes)
    return {capitals for (code, capitals), count in counts.items() if 2 * count <= sizes[code]}


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
        groups += [(SECTION, forms) for forms in table.get("collections", ())]
        groups += [(plain_word(forms[0]), forms) for forms in table.get("others", ())]
        for unit, spelled in ((unit, word) for unit, forms in groups if unit not in but for word in forms):
            plain = _plain_form(spelled)
            known = found.get(plain, _UnitWord(unit, (), ()))
            found[plain] = _UnitWord(known.unit, (*known.languages, language), (*known.spelled, spelled))
    return found


@cache
def _plain_form(word: str) -> str:
    """Return a word for a part of a law in plain letters, without the blanks and full stops that a text may add."""
    return " ".join(re.sub(r"(?<=\.)\s+", "", plain_word(word)).split()).rstrip(".")


@cache
def _forms_of(key: str) -> frozenset[str]:
    """Return the words that any table has under a key, as `_plain_form` does."""
    return frozenset(map(_plain_form, all_words(key)))


@cache
def other_units() -> frozenset[str]:
    """Return the units that are numbered apart from articles: schedules, annexes, transitional provisions."""
    return frozenset(known.unit for known in _known_words().values()) - MAIN_UNITS
