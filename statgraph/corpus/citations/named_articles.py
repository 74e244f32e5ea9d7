"""The articles that a question names by number: "Art. 27, Housing Code", "L. 1234-1", "§ 12", 民法典第八十五条."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np

from statgraph.corpus.citations.cited_texts import plain_title
from statgraph.corpus.citations.code_mentions import SMALL_WORDS, CodeMentions, Mention
from statgraph.corpus.citations.references import (
    ARTICLE,
    DIGITS,
    JOIN,
    LETTERS,
    NUMBER,
    Reference,
    ReferenceFinder,
    article_number,
)

_ARTICLE_WORDS = r"art(?:icle|ikel|ículo|icolo)?(?:s|n|i)?"
_SECTION_WORDS = r"§{1,2}|sections?|sect?(?=\.)|ss?(?=\.|\d)"
_SIGN_ALOUD = r"paragra(?:ph|f)(?:en|s)?"  # how "§" is read in German
_TITLE = re.compile(
    rf"[^\w§]*(?P<word>§{{1,2}}|[^\W\d_]{{2,}}\.?)?\s*(?P<number>{NUMBER})(?P<alone>\W*$|[.,:;)\]]|\s+[^\W\d_a-z])?"
)
_SECTION_HEADING = re.compile(r"\W*section\s+(\d+)", re.IGNORECASE)

_CHINESE_NUMBER = r"[零〇一二三四五六七八九十百千两\d]+"
_CHINESE_RANGE = re.compile(rf"第\s*({_CHINESE_NUMBER})\s*条?\s*(?:至|到|[-—~])\s*第?\s*({_CHINESE_NUMBER})\s*条")
_CHINESE_LIST = re.compile(rf"第\s*({_CHINESE_NUMBER}(?:\s*[、,]\s*{_CHINESE_NUMBER})*)\s*条(?:之({_CHINESE_NUMBER}))?")
_CHINESE_DIGITS = dict(zip("零〇一二两三四五六七八九", "001223456789", strict=True))
_CHINESE_UNITS = {"十": 10, "百": 100, "千": 1000}

# "l1234-1" as it is typed; "a" and "d" are words too, so that theirs must touch the number.
_SMALL_LETTERS = re.compile(r"(?<![\w'’-])(?:(?:lo|[lr])\.?\s?|[ad]\.?)(?=\*{0,2}\d+(?:-\d|\d\d))")
# Numbers that nobody takes for a quantity.
_UNMISTAKABLE = re.compile(rf"(?<![\w.-]){LETTERS}(?=\d+-\d|\d{{3}}){DIGITS}(?:{JOIN}{NUMBER})*")
_NUMBERS = re.compile(rf"(?<!\w){NUMBER}(?:{JOIN}{NUMBER})*(?!\w)")
_NUMBERED = re.compile(rf"{ARTICLE}\s*{NUMBER}")
_AND = r"\s*(?:,|;|–|,?\s*\b(?:et|and|ou|or|en|und|oder|sowie|to|à|au|tot(?: en met)?|t/m|bis)(?!\w))\s*"
_LIST_OF_ARTICLES = re.compile(rf"{ARTICLE}\s*{NUMBER}(?:{_AND}{ARTICLE}\s*{NUMBER})+")
_AND_ARTICLE = re.compile(rf"({_AND}){ARTICLE}\s*")
_HYPHENATED = re.compile(rf"(?P<first>{ARTICLE}\s*\d+)\s?-\s?(?P<last>\d+)(?![\w-])")
_ROMAN_PARAGRAPH = re.compile(r"(§\s*\d+[a-z]?)\s+[IVX]+\b")  # "§ 823 I BGB" is § 823 Absatz 1
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
        codes = [path[0] for path in paths]
        numbered = [_word_and_number(name, code) for name, code in zip(numbers or titles, codes, strict=True)]
        words = _words_for_articles(numbered, codes)
        numbers = [number if word in words[code] else "" for (word, number), code in zip(numbered, codes, strict=True)]
        self._finder = ReferenceFinder([number and f"article {number}" for number in numbers], codes)
        self._mentions = CodeMentions(dict.fromkeys(codes))
        self._rows_of_title: dict[str, list[int]] = {}
        self._rows_with: dict[str, list[int]] = {}
        for row, (title, number) in enumerate(zip(titles, numbers, strict=True)):
            self._rows_of_title.setdefault(plain_title(title), []).append(row)
            if number:
                self._rows_with.setdefault(article_number(number), []).append(row)
        self._codes = codes
        self._article = _word_before_number(
            _ARTICLE_WORDS, *map(re.escape, sorted(set().union(*words.values()) - {""}))
        )
        signs = any("§" in own for own in words.values())
        self._section = _word_before_number(_SECTION_WORDS, *[_SIGN_ALOUD] * signs)
        headings = {heading for path in set(map(tuple, paths)) for heading in path[1:]}
        self._section_headings = {int(match[1]) for match in map(_SECTION_HEADING.match, headings) if match}

    def rows(self, question: str) -> np.ndarray:
        """Return the rows of the articles that a question names, best first: (n,) int64, empty where it names none.

        Of a number that several codes have, all are named: first those of the code that stands with the number, then
        those of codes mentioned elsewhere. It names none where the code that stands with it lacks the number or is not
        in the corpus.
        """
        said = self._in_the_spelling_of_law(question)
        said = _as_article(said, self._mentions.find(said))
        mentions = self._mentions.find(said)
        best = dict.fromkeys(self._rows_of_title.get(plain_title(question), ()))
        others: dict[int, None] = {}
        for reference in self._finder.cited(said, ""):
            own = _codes_of(reference, said, mentions)
            if own is None:
                continue
            first = own or [code for mention in mentions for code in mention.codes]
            named = [row for code in first for row in self._finder.rows_of(reference.numbers, code)]
            best.update(dict.fromkeys(named))
            if named or not own:
                others.update(dict.fromkeys(self._rows_anywhere(reference.numbers)))
        return np.fromiter(best | others, dtype=np.int64)

    def _rows_anywhere(self, numbers: str) -> list[int]:
        """Return the rows of numbers in all codes, code by code."""
        if re.fullmatch(NUMBER, numbers):
            return self._rows_with.get(article_number(numbers), [])
        first = article_number(re.match(NUMBER, numbers)[0])
        holding = dict.fromkeys(self._codes[row] for row in self._rows_with.get(first, ()))
        return [row for code in holding for row in self._finder.rows_of(numbers, code)]

    def _in_the_spelling_of_law(self, question: str) -> str:
        """Return a question with "article" before each number that is one: for "ART 27", "sec. 27", "l1234-1"."""
        said = re.sub("[\u2010-\u2012\u2212]", "-", unicodedata.normalize("NFKC", question))
        said = _SMALL_LETTERS.sub(lambda match: match[0].upper(), _in_digits(said))
        said = _ROMAN_PARAGRAPH.sub(r"\1", said)
        said = self._section.sub(self._section_word, self._article.sub("article ", said))
        said = _UNMISTAKABLE.sub(r"article \g<0>", said)
        said = _HYPHENATED.sub(self._range, said)
        return _LIST_OF_ARTICLES.sub(lambda match: _AND_ARTICLE.sub(r"\1", match[0]), said)

    def _range(self, match: re.Match[str]) -> str:
        """Return "articles 12–15" for "articles 12-15", unless that is one number here."""
        number = re.search(NUMBER, match[0])[0]
        return match[0] if article_number(number) in self._rows_with else f"{match['first']}–{match['last']}"

    def _section_word(self, match: re.Match[str]) -> str:
        """Return "article " for a word for a section, and the word itself where a heading has that number."""
        number = re.match(r"\d+", match.string[match.end() :])
        is_heading = "§" not in match[0] and number is not None and int(number[0]) in self._section_headings
        return match[0] if is_heading else "article "


def _word_and_number(title: str, code: str) -> tuple[str | None, str]:
    """Return the word before an article's number in its title ("" for none) and the number; None and "" without one."""
    match = _TITLE.match(_in_digits(title.replace(code, " ", 1)))
    if match is None or not (match["word"] or match["alone"] is not None):
        return None, ""
    return (match["word"] or "").rstrip(".").lower(), match["number"]


def _words_for_articles(numbered: Sequence[tuple[str | None, str]], codes: Sequence[str]) -> dict[str, set[str]]:
    """Return for each code the words that stand before the numbers of articles: any that most of its titles have."""
    counts = Counter(zip(codes, (word for word, _ in numbered), strict=True))
    sizes = Counter(codes)
    words = {code: {"§", "art", "article", "artikel"} for code in sizes}
    for (code, word), count in counts.items():
        if word is not None and 2 * count > sizes[code]:
            words[code].add(word)
    return words


def _word_before_number(*words: str) -> re.Pattern[str]:
    """Return a pattern of words with the number sign behind them, where a number follows."""
    sign = r"(?:n[°o]\.?|nr\.?|number|nummer|numéro)?"
    return re.compile(rf"(?<!\w)(?:{'|'.join(words)})\.?\s*{sign}\s*(?=(?:{LETTERS})?\d)", re.IGNORECASE)


def _as_article(said: str, mentions: Sequence[Mention]) -> str:
    """Return a question with "article" before its numbers, where it is nothing but numbers and mentions of codes."""
    if _NUMBERED.search(said):
        return said
    rest = said
    for mention in mentions:
        rest = rest[: mention.start] + " " * (mention.end - mention.start) + rest[mention.end :]
    numbers = _NUMBERS.search(rest)
    if numbers is None:
        return said
    rest = rest[: numbers.start()] + " " + rest[numbers.end() :]
    words = re.findall(r"[^\W_]+", rest.lower())
    if not set(words) <= SMALL_WORDS or re.search(r"[^\w\s.,;:?!'’\"«»()《》-]", rest):
        return said
    return f"{said[: numbers.start()]}article {said[numbers.start() :]}"


def _codes_of(reference: Reference, said: str, mentions: Sequence[Mention]) -> list[str] | None:
    """Return the codes that stand with a reference, [] where none does, None where another text does."""
    if reference.code:
        return [reference.code]
    near = [
        code
        for mention in mentions
        if 0 <= mention.start - reference.end <= _NEAR or 0 <= reference.start - mention.end <= _NEAR
        for code in mention.codes
    ]
    if near or reference.code is None:
        return near or None
    return None if re.search(r"《[^《》]+》\s*$", said[: reference.start]) else []


def _in_digits(text: str) -> str:
    """Return a text with "article 85" for 第八十五条, another as it is."""
    if "条" not in text:
        return text

    def listed(match: re.Match[str]) -> str:
        numbers = ", ".join(_digits(number) for number in re.findall(_CHINESE_NUMBER, match[1]))
        return f" article {numbers}" + (f"-{_digits(match[2])}" if match[2] else "") + " "

    text = _CHINESE_RANGE.sub(lambda match: f" article {_digits(match[1])} to {_digits(match[2])} ", text)
    return _CHINESE_LIST.sub(listed, text)


def _digits(number: str) -> str:
    """Return a Chinese number below 10,000 in digits: 二百三十四 is 234, 二三四 too."""
    if not set(number) & set(_CHINESE_UNITS):
        return "".join(_CHINESE_DIGITS.get(sign, sign) for sign in number)
    total, digit = 0, ""
    for sign in number:
        if sign in _CHINESE_UNITS:
            total += int(digit or 1) * _CHINESE_UNITS[sign]
            digit = ""
        else:
            digit = (digit + _CHINESE_DIGITS.get(sign, sign)).lstrip("0")
    return str(total + int(digit or 0))
