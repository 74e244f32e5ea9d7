"""The articles that a question names by number: "Art. 27, Housing Code", "L. 1234-1", "§ 12", 民法典第八十五条."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

from statgraph.law.citations.code_mentions import CodeMentions, Mention, plain_title, small_words
from statgraph.law.citations.numbering import ALOUD, ARTICLE, SECTION
from statgraph.law.citations.numbers import LETTERS, article_number, digits_pattern, with_plain_hyphens
from statgraph.law.citations.references import Reference, ReferenceFinder
from statgraph.law.citations.tables import tables
from statgraph.law.normal_text import normal_text
from statgraph.law.titles import NEARLY_ALL

HAS_NUMBER = re.compile(r"\d|第|§")  # most questions name no article, and reading every title takes a second

_DIGITS = digits_pattern(marks="er|º|ª|°", loose="[IVX]", bis_is_to=False)
_NUMBER = re.sub(r"\?P<\w+>", "?:", rf"(?:{LETTERS})?{_DIGITS}")
_JOIN = r"\s*(?:,|;|–|\b(?:et|and|ou|or|en|und|oder|to|à|bis|tot|y|e|i|a)\b)\s*"
# "l1234-1" as it is typed; "a" and "d" are words too, so that theirs must touch the number.
_SMALL_LETTERS = re.compile(r"(?<![\w'’-])(?:(?:lo|[lr])\.?\s?|[ad]\.?)(?=\*{0,2}\d+(?:-\d|\d\d))")
# Numbers that nobody takes for a quantity.
_UNMISTAKABLE = re.compile(rf"(?<![\w.-])(?={LETTERS}(?:\d+-\d|\d{{3}})){_NUMBER}(?:{_JOIN}{_NUMBER})*")
_NUMBERS = re.compile(rf"(?<!\w){_NUMBER}(?:{_JOIN}{_NUMBER})*(?!\w)")
_SECTION_HEADING = re.compile(r"\W*section\s+(\d+)", re.IGNORECASE)
_KEPT = re.compile(r"[^ºª°⁰¹²³⁴-⁹]+")  # which NFKC would make letters and digits
_IN_BRACKETS = re.compile(r"(\d+)\((\d{1,2})\)")
_NEAR = 20  # characters between a number and the short name of its code: "5, deuxième alinéa, CSS"


class NamedArticles:
    """Finds the articles of a corpus that a question names by their numbers.

    A number counts behind a word for an article, or the word that the titles of a code use for theirs; in an
    unmistakable form ("L1234-1"); and where the question is nothing but a number, with or without a code. An article
    is also named by the whole of its title ("Annex I, Housing Code").

    Args:
        titles: the title of each article ("Art. L12-3, Housing Code", "§ 12 Kündigung").
        paths: the headings above each, from its code down.
        numbers: the number of each ("Art. L12-3"), or its title where that is not known; None for all titles.
    """

    def __init__(self, titles: Sequence[str], paths: Sequence[Sequence[str]], numbers: Sequence[str] | None = None):
        self._codes = [path[0] for path in paths]
        self._finder = ReferenceFinder(numbers or titles, self._codes, asked=True)
        self._mentions = CodeMentions(dict.fromkeys(self._codes))
        self._rows_of_title: dict[str, list[int]] = {}
        self._rows_with: dict[str, list[int]] = {}
        for row, (title, key) in enumerate(zip(titles, self._finder.keys, strict=True)):
            self._rows_of_title.setdefault(plain_title(title), []).append(row)
            if key:
                self._rows_with.setdefault(key, []).append(row)
        headings = {heading for path in set(map(tuple, paths)) for heading in path[1:]}
        self._section_headings = {match[1] for match in map(_SECTION_HEADING.match, headings) if match}
        numbered = [any(map(str.isdigit, number)) for number in numbers or titles]
        self._knows_numbers = sum(map(bool, self._finder.keys)) >= NEARLY_ALL * sum(numbered)
        self._shapes = {_shape(key) for key in self._rows_with}

    def rows(self, question: str) -> np.ndarray:
        """Return the rows of the articles that a question names, best first: (n,) int64, empty where it names none.

        Of a number that several codes have, all are named: first those of the code that stands with the number, then
        those of codes mentioned elsewhere. It names none where the code that stands with it lacks the number or is not
        in the corpus.
        """
        best = dict.fromkeys(self._rows_of_title.get(plain_title(question), ()))
        others: dict[int, None] = {}
        for reference, own, mentioned in self._references(question):
            named = [row for code in own or mentioned for row in self._finder.rows_of(reference, code)]
            best.update(dict.fromkeys(named))
            if (named or not own) and not reference.is_exact:
                others.update(dict.fromkeys(self._rows_anywhere(reference)))
        return np.fromiter(best | others, dtype=np.int64)

    def meant(self, label: str) -> list[list[int]]:
        """Return the rows of the articles that a label may mean, a list for each number in it: one row where the number
        is one article's alone, or the label names the code; rows of several codes where it does not."""
        if titled := self._rows_of_title.get(plain_title(label)):
            return [titled]
        meant = []
        for reference, own, mentioned in self._references(label):
            for number in reference.numbers:
                one = reference._replace(numbers=(number,))
                codes = own or mentioned or dict.fromkeys(self._codes)
                meant.append([row for code in codes for row in self._finder.rows_of(one, code)])
        return meant

    def unknown(self, question: str) -> list[str]:
        """Return the numbers that a question surely names and no article carries, each once: "9999", or "9999, Housing
        Code" where it names the code.

        Sure is a number behind a word for an article, or in an unmistakable form that other articles have. It is known
        if the code has it that the question names; without one, or with one that is not in the corpus, if any has.
        """
        if not self._knows_numbers:
            return []
        said = self._in_the_spelling_of_law(question, known=True)
        mentions = self._mentions.find(said)
        unknown: dict[str, None] = {}
        for reference in self._finder.cited(said, ""):
            aloud = reference.unit == SECTION and said[reference.start] != "§" and self._section_headings
            if reference.unit not in (ARTICLE, SECTION, ALOUD) or aloud:
                continue
            codes = _codes_of(reference, mentions) or []
            for number in reference.numbers:
                one = reference._replace(numbers=(number,))
                found = any(self._finder.rows_of(one, code) for code in codes or dict.fromkeys(self._codes))
                key = next((key for key in number.keys if _shape(key) in self._shapes), number.keys[-1])
                if not found and ("-" not in key or _shape(key) in self._shapes):  # else it is "2-9"
                    unknown[", ".join((key, *codes))] = None
        return list(unknown)

    def _references(self, question: str) -> Iterator[tuple[Reference, list[str], list[str]]]:
        """Yield the references of a question to texts of the corpus, each with the codes that stand with it and those
        that the question mentions anywhere."""
        said = self._in_the_spelling_of_law(question)
        said = _with_signs(said, self._mentions.find(said))
        said = _as_article(said, self._mentions.find(said))
        mentions = self._mentions.find(said)
        mentioned = [code for mention in mentions for code in mention.codes]
        for reference in self._finder.cited(said, ""):
            own = _codes_of(reference, mentions)
            is_section = reference.unit == SECTION and said[reference.start] != "§"
            is_heading = is_section and reference.numbers[0].keys[0] in self._section_headings
            if own is not None and not is_heading:
                yield reference, own, mentioned

    def _rows_anywhere(self, reference: Reference) -> list[int]:
        """Return the rows of numbers in all codes, code by code."""
        keys = self._finder.row_keys(reference)
        holding = next((rows for key in keys if (rows := self._rows_with.get(key))), [])
        if len(reference.numbers) == 1 and holding:
            return holding
        codes = dict.fromkeys(self._codes[row] for row in holding) if holding else dict.fromkeys(self._codes)
        return [row for code in codes for row in self._finder.rows_of(reference, code)]

    def _in_the_spelling_of_law(self, question: str, *, known: bool = False) -> str:
        """Return a question with capitals before numbers and "article" before unmistakable ones: for "l1234-1". With
        `known`, before those alone that look like the number of an article."""
        said = _KEPT.sub(lambda part: unicodedata.normalize("NFKC", part[0]), normal_text(question))
        said = with_plain_hyphens(said)
        said = re.sub(r"(?<!\w)(ss?)(?=\d)", r"\1.", said, flags=re.IGNORECASE)
        said = _IN_BRACKETS.sub(self._raised, said)
        said = _SMALL_LETTERS.sub(lambda match: match[0].upper(), said)

        def as_article(match: re.Match[str]) -> str:
            first = re.match(_NUMBER, match[0])
            assert first is not None  # the match begins with a number
            unknown = known and _shape(article_number(first[0])) not in self._shapes
            return match[0] if unknown else f"article {match[0]}"

        return _UNMISTAKABLE.sub(as_article, said)

    def _raised(self, number: re.Match[str]) -> str:
        """Return "22^1" for "22(1)" where an article has that number."""
        raised = f"{number[1]}^{number[2]}"
        return raised if raised in self._rows_with else number[0]


def _shape(key: str) -> str:
    """Return a number with a 0 for each run of digits: "L1234-1" has the shape "L0-0"."""
    return re.sub(r"\d+", "0", key)


def _with_signs(said: str, mentions: Sequence[Mention]) -> str:
    """Return a question with the sign before numbers right behind a code that lack it: 民法第190條 for 民法190條."""
    for table in tables().values():
        if "before_number" in table:
            unsigned = re.compile(
                rf"\s*[\d{''.join((*table['digits'], *table['units']))}]+\s*(?:{'|'.join(table['article'])})"
            )
            for mention in reversed(mentions):
                if unsigned.match(said, mention.end):
                    said = said[: mention.end] + table["before_number"] + said[mention.end :]
    return said


def _as_article(said: str, mentions: Sequence[Mention]) -> str:
    """Return a question with "article" before its numbers, where it is nothing but numbers and mentions of codes."""
    rest = said
    for mention in mentions:
        rest = rest[: mention.start] + " " * (mention.end - mention.start) + rest[mention.end :]
    numbers = _NUMBERS.search(rest)
    if numbers is None:
        return said
    rest = rest[: numbers.start()] + " " + rest[numbers.end() :]
    words = {plain_title(word) for word in re.findall(r"[^\W_]+", rest)}
    if not words <= small_words() or re.search(r"[^\w\s.,;:?!'’\"«»()《》-]", rest):
        return said
    return f"{said[: numbers.start()]}article {said[numbers.start() :]}"


def _codes_of(reference: Reference, mentions: Sequence[Mention]) -> list[str] | None:
    """Return the codes that stand with a reference, [] where none does, None where another text does."""
    if reference.code:
        return [reference.code]
    near = [
        code
        for mention in mentions
        if 0 <= mention.start - reference.end <= _NEAR or 0 <= reference.start - mention.end <= _NEAR
        for code in mention.codes
    ]
    return near or (None if reference.code is None else [])
