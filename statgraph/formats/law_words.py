"""How the lines begin that name the parts of a statute, by language: "Artículo 36. Fianza", "§ 573b", "Kapitel 2"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from statgraph import artifacts
from statgraph.errors import UsageError, option, reason_of
from statgraph.formats.repealed import is_repealed
from statgraph.law.titles import NUMBER

ARTICLE, ANNEX = "article", "annex"  # columns of the table of words beside this file
LONGEST_HEADING = 200
LONGEST_RUBRIC = 150
SENTENCE_ENDS = (".", ":", ";", ",", "。", "；", "：", "，", "、")
_NONE = "(?!)"
# By column the words of a language, regular expressions with a comma between; 〇 is a number inside or before a word.
# What is an article in one language can be a heading in another: "Section".
_WORDS = {row.pop("language"): row for row in artifacts.read_table(Path(__file__).with_suffix(".tsv"))}
_ARTICLES_ELSE = {"pl": "§"}  # where no article begins with the words above; else it is a paragraph of one
# "Artículos 21 a 25. (Derogados)", "§§ 12 bis 15 (weggefallen)": nothing but the numbers, and what became of them.
_RANGE_NUMBER = r"\d+(?:[-.–]\d+)*\w?"
_RANGE = re.compile(
    r"(?P<word>§§|(?i:art[íi]culos|articles|sections|artikeln?|artikelen|articoli|artigos|artt?\.))\s*"
    rf"(?P<number>{_RANGE_NUMBER}\s*(?:[–-]|\b(?:bis|a|al|to|à|tot|y|und|and|et|e|en|i|do)\b|,)\s*{_RANGE_NUMBER})"
    r"(?P<rest>[.:]?\s*(?:[\[(].*|.{0,40}))"
)
_BARE_NUMBER = (
    r"(?P<number>\d+(?:[-.]\d+)*[A-Z]{0,4}(?: [a-z])?(?: §)?)[.)]{0,2}(?:\s+|—)(?=[^\W\d_a-z]|\([A-Z]?1\)|[\[“«„*])"
)
# What stands before a line that another act inserted: "1[3A. Permits", "[F12A Rafts", "*2B. Canoes".
_INSERTED = re.compile(
    r"(?:\d{1,3}|[*†‡]{1,2}|[⁰¹²³⁴-⁹]{1,3})?\[(?:F\d{1,3}?(?=\d))?(?=\w|§)|[*†‡⁰¹²³⁴-⁹]{1,3}(?=\w|§)"
)
# What a law is called after the number of its article: "§ 278 BGB bleibt unberührt", "Article 218(9) TFEU applies".
_OF_A_LAW = re.compile(r"\s*(?:\(\w{1,3}\)\s*)*[^\W\d_a-zà-ÿ][\w]*[^\W\d_a-zà-ÿ]\w*\s+(?:[a-zà-ÿ]|\()")
_APART = "disposici"
_UNNUMBERED = r"(?i:disposici[óo]n (?:adicional|transitoria|derogatoria|final))(?=\s*[.:])"
_SUB = "sub|sous-|unter|onder|sotto|pod"
_CHINESE_NUMBER = r"\s*[零〇一二三四五六七八九十百千两\d]+\s*"
_NUMBER_WORD = (
    r"(?i:premi(?:er|ère)|prim(?:er|o|a|ero|era|eiro|eira)|liminaire|(?:segund|second|tercer|terceir|terz|[qc]uart|quint|se[xs]t|"
    r"s[ée]p?tim|settim|octav|oitav|ottav|noven|non|[úu]nic|(?:und|duo)?d[ée]cim\w*|\w+[ée]sim)[oa]|unique|"
    r"pr[ée]liminai?re?|general[e]?|generale|especial|speciale)"
)
_ORDINAL_LANGUAGES = ("ca", "es", "gl", "it", "pt")
_ORDINAL = re.compile(rf"(?P<number>{_NUMBER_WORD}(?: {_NUMBER_WORD})?)(?=\s*[.:]\s*[-–—]|[.:](?:\s|$)|$)")
_BEFORE = (
    r"(?:\d+\.|(?i:(?:erst|zweit|dritt|viert|fünft|sechst|siebt|siebent|acht|neunt|\w*zehnt|elft|zwölft|\w+zigst|"
    r"allgemein|besonder)e[rs]?|first|second|third|(?:four|fif|six|seven|eigh|nin|ten|eleven|twelf)th|"
    r"premi(?:er|ère)|seconde?|\w+ième|\w+(?:de|ste)))"
)
_HEADING_NUMBER = (
    rf"(?:(?:[IVXLCDM]+|\d+|[A-Z])(?:\.?[ºª°]|er|re|[a-z])?(?: (?:bis|ter|quater))?(?!\w)|{_NUMBER_WORD}(?!\w))"
)
_BETWEEN = " \t\u3000.,:;–—-ºª°"
# What follows the number in a sentence about an article, not in the line that begins one: "§ 5 Abs. 2 gilt".
_IN_SENTENCE = re.compile(
    r"\s*(?:[),;/]|[–-]\d|\((?:\d+|[a-z])\)\s*[a-z(,]|\([a-z][^()]*\)\s[a-z]|"
    r"(?i:(?:and|or|und|oder|bis|y|o|a|al|et|ou|à|e|en|tot|to|i|lub) \d|(?:abs(?:atz|ätze)?|satz|sätze|nrn?|nummer|"
    r"buchst(?:abe)?)\b)|(?:subsections?|paragraphs?|clauses?|apartados?|p[áa]rrafos?|letras?|inciso|alin[ée]as?|al|"
    r"lid|leden|onder|comm[ai]|letter[ae]|lett|ust|pkt|caput|par[áa]grafos?)\b)"
)


@dataclass(frozen=True, slots=True)
class HeadingLine:
    """A line that names a part of a statute.

    Attributes:
        kind: headings of a kind are siblings: "title", "sub-title", `ANNEX`, "pattern 1".
        name: what it is called: "TÍTULO II".
        title: what follows on the line: "De los contratos".
        level: that of the user's patterns, from 1; 0 where the kinds alone decide.
    """

    kind: str
    name: str
    title: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class ArticleLine:
    """A line that begins an article.

    Attributes:
        word: what the article is called, "" where that is part of the number: "Artículo".
        number: "36", "第三十六条".
        rest: what follows on the line.
        is_rubric: whether the rest is known to be the rubric, and not the text.
        is_several: whether it stands for a range of articles: "Artículos 21 a 25. (Derogados)".
        is_apart: whether it stands outside the headings: "Disposición final primera", an annex.
        is_marked: whether a full stop, a colon or a dash stands behind the number, or nothing.
        is_doubtful: whether the line may be a sentence about an article: "Section 5 EU law applies."
        mark: what stands before it because another act inserted it: "1[".
    """

    word: str
    number: str
    rest: str
    is_rubric: bool = False
    is_several: bool = False
    is_apart: bool = False
    is_marked: bool = False
    is_doubtful: bool = False
    mark: str = ""

    @property
    def digits(self) -> int:
        """Return the number without letters and what is behind a full stop: 12 of "12A.1"; 0 where it has none."""
        return int(match[0]) if (match := re.match(r"\d+", self.number)) else 0


class LinePatterns:
    """Recognises the lines that begin the headings and articles of a statute.

    Args:
        language: ISO 639 code; a language without words of its own has those of all.
        article: the user's regular expression of the beginning of an article line, in place of the words: its groups
            `number` and `rubric`, or the first and second.
        headings: the user's regular expressions of headings, the highest level first, in place of the words.
        use_else: whether articles begin with the words of `_ARTICLES_ELSE`.
        takes_lower_case: whether rubrics may begin in lower case.

    Raises:
        UsageError: if an expression is invalid, or matches a blank line.
    """

    def __init__(
        self,
        language: str,
        article: str = "",
        headings: Sequence[str] = (),
        *,
        use_else: bool = False,
        takes_lower_case: bool = False,
    ):
        self._article_words, self._heading_words = _words_of(language, use_else=use_else)
        self._own_article = _compiled(option("article-pattern"), article) if article else None
        self._own_headings = [_compiled(option("heading-pattern"), pattern) for pattern in headings]
        self.language, self._headings, self._takes_lower_case = language, headings, takes_lower_case

    def without_articles(self) -> LinePatterns | None:
        """Return the patterns to try in a document in which these find no article; None if there are none."""
        if self._own_article is not None or self.language not in _ARTICLES_ELSE:
            return None
        return LinePatterns(self.language, headings=self._headings, use_else=True)

    def lower_case(self) -> LinePatterns | None:
        """Return the patterns of articles whose rubrics begin in lower case: "Sec. 3 definitions". None where the user
        says how articles begin."""
        if self._own_article is not None:
            return None
        return LinePatterns(self.language, headings=self._headings, takes_lower_case=True)

    def bare_numbers(self) -> LinePatterns | None:
        """Return the patterns of articles that begin with a number alone, None where the user says how they begin."""
        return None if self._own_article is not None else LinePatterns(self.language, _BARE_NUMBER)

    def numbered(self, text: str, last: int) -> ArticleLine | None:
        """Return the article that a line begins with a number alone, None for another line. `last` is the number before
        it: after section 2, "[F12A Rafts" is note 1 and section 2A, not note 12."""
        mark = found[0] if (found := _INSERTED.match(text)) else ""
        rest = text[len(mark) :]
        article = self.article(rest)
        while mark.startswith("[F") and article and article.digits > last + 1 and rest[1:2].isdigit():
            mark, rest = mark + rest[0], rest[1:]
            article = self.article(rest)
        return None if article is None else replace(article, mark=mark)

    def article(self, text: str, *, has_style: bool = False) -> ArticleLine | None:
        """Return the article that a line begins, None for another line; one with a heading style is not a sentence."""
        if self._own_article is not None:
            own = self._own_article.match(text)
            return None if own is None else _own_article_line(own, text)
        if several := _RANGE.fullmatch(text):
            rest = several["rest"].lstrip(_BETWEEN)
            is_sentence = rest[:1] not in ("[", "(", "") and not is_repealed(rest) and not _is_title(rest)
            return None if is_sentence else ArticleLine(several["word"], several["number"], rest, is_several=True)
        mark = found[0] if (found := _INSERTED.match(text)) else ""
        text = text[len(mark) :]
        match = self._article_words.match(text) if _may_begin(text) else None
        if match is None:
            return None
        after = text[match.end() :]
        rest = after.lstrip(_BETWEEN)
        goes_on = rest[:1].islower() and not after[: len(after) - len(rest)].strip(" \tºª°")
        word, number = match["word"] or "", match["number"] or match["whole"]
        if goes_on and self._takes_lower_case:
            goes_on = len(text) > LONGEST_RUBRIC or text.endswith(SENTENCE_ENDS)
        is_sentence = (goes_on and not is_repealed(rest)) or _IN_SENTENCE.match(after) is not None
        if (word or number.endswith("§")) and is_sentence and not has_style:
            return None
        if number.startswith("第"):
            number = "".join(number.split())
        is_apart = f"{word}{number}".casefold().startswith(_APART)
        is_marked = not rest or any(mark in after[: len(after) - len(rest)] for mark in ".:–—-")
        is_doubtful = bool(_OF_A_LAW.match(after)) and text.endswith(SENTENCE_ENDS)
        return ArticleLine(
            word, number, rest, is_apart=is_apart, is_marked=is_marked, is_doubtful=is_doubtful, mark=mark
        )

    def ordinal(self, text: str) -> ArticleLine | None:
        """Return the article that a line begins with an ordinal alone, as transitional provisions do: "PRIMERO.- La
        presente ley". None for another line or language, and where the user says how articles begin."""
        takes_ordinals = self._own_article is None and self.language in _ORDINAL_LANGUAGES
        match = _ORDINAL.match(text) if takes_ordinals and text[:1].isupper() else None
        return None if match is None else ArticleLine("", match["number"], text[match.end() :].lstrip(_BETWEEN))

    def heading(self, text: str) -> HeadingLine | None:
        """Return the heading in a line, None if the line is not a heading."""
        if len(text) > LONGEST_HEADING:
            return None
        for level, pattern in enumerate(self._own_headings, start=1):
            if pattern.match(text):
                return HeadingLine(f"pattern {level}", "", text.strip(), level)
        if not _may_begin(text):
            return None
        kinds = (ANNEX,) if self._own_headings else self._heading_words
        for kind in kinds:
            match = self._heading_words[kind].fullmatch(text)
            if match is not None and _is_whole(match):
                kind = f"sub-{kind}" if match.groupdict().get("sub") else kind
                name = ("" if match["name"][-1] >= "\u3040" else " ").join(match["name"].split())
                return HeadingLine(kind, name, match["rest"].lstrip(_BETWEEN).strip())
        return None


def _may_begin(text: str) -> bool:
    return (text[:1].isalnum() and not text[:1].islower()) or text[:1] == "§"


def _is_title(text: str) -> bool:
    return not text[:1].islower() and not text.endswith(SENTENCE_ENDS) and not _OF_A_LAW.match(text)


def _is_whole(match: re.Match[str]) -> bool:
    """Return whether a line that begins as a heading is one, and not a sentence."""
    rest = match["rest"]
    goes_on = rest[:1].isspace() and rest.lstrip()[:1].islower() and not match["name"].isupper()
    goes_on |= match["name"][0].isdigit() and rest.lstrip()[:1].isdigit()  # "14. Anlage 1 zum Gesetz"
    return not goes_on and not rest.rstrip().endswith((",", ";")) and not _IN_SENTENCE.match(rest)


def _own_article_line(match: re.Match[str], text: str) -> ArticleLine:
    groups = [group or "" for group in match.groups()]
    named = {name: group or "" for name, group in match.groupdict().items()}
    number = named.get("number", groups[0] if groups else match[0])
    rubric = named.get("rubric", groups[1] if len(groups) > 1 else "")
    rest = text[match.end() :].lstrip(_BETWEEN)
    return ArticleLine("", number.strip(_BETWEEN), f"{rubric} {rest}".strip(), bool(rubric) and not rest)


def _compiled(name: str, pattern: str) -> re.Pattern[str]:
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(f"{name} {pattern}: invalid regular expression ({reason_of(error)}); correct it") from None
    if compiled.match(""):
        raise UsageError(f"{name} {pattern}: matches a blank line; write what such a line begins with")
    return compiled


@cache
def _words_of(language: str, *, use_else: bool) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Return the pattern of the article lines of a language, and those of its headings by kind."""
    rows = [_WORDS[language]] if language in _WORDS else list(_WORDS.values())
    words = {column: ", ".join(row[column] for row in rows).split(", ") for column in rows[0]}
    if use_else:
        words[ARTICLE] = [_ARTICLES_ELSE[language]]
    headings = {name: _heading_pattern(words[name], needs_number=name != ANNEX) for name in words if name != ARTICLE}
    plain, whole = _by_place_of_number(words[ARTICLE])
    article = (
        rf"(?P<word>(?i:{plain}))(?:(?<=[§.])\s*|\s+)(?P<number>{NUMBER}|{_NUMBER_WORD}(?: {_NUMBER_WORD})?(?!\w))"
    )
    unnumbered = _UNNUMBERED if _APART in plain.casefold() else _NONE
    return (re.compile(rf"{article}|(?P<whole>{whole}|{unnumbered})"), headings)


def _heading_pattern(words: Sequence[str], *, needs_number: bool) -> re.Pattern[str]:
    plain, whole = _by_place_of_number(words)
    number = rf"\s+{_HEADING_NUMBER}"
    behind = rf"(?P<sub>(?i:{_SUB}))?(?i:{plain})(?:{number}){'' if needs_number else '?'}"
    name = rf"{behind}|{_BEFORE}\s+(?i:{_SUB})?(?i:{plain})|{whole}"
    return re.compile(rf"(?P<name>{name})(?P<rest>(?:(?:(?<=[\u4e00-\u9fff])|(?=[\s.:–—-])).*)?)")


def _by_place_of_number(words: Sequence[str]) -> tuple[str, str]:
    """Return the words that a number follows, and those that hold one."""
    plain = "|".join(word for word in words if "〇" not in word)
    whole = "|".join(word.replace("〇", _CHINESE_NUMBER) for word in words if "〇" in word)
    return plain or _NONE, whole or _NONE


class HeadingStack:
    """The headings above what comes next: each new one ends those of its kind or level, and what is below them."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str, str]] = []  # (level, kind, title)

    @property
    def path(self) -> tuple[str, ...]:
        """Return the titles of the headings, the highest first."""
        return tuple(title for _, _, title in self._open)

    @property
    def is_apart(self) -> bool:
        """Return whether the highest heading stands apart, as an annex does."""
        return bool(self._open) and self._open[0][1] == ANNEX

    def push(self, heading: HeadingLine, title: str, level: int = 0) -> None:
        """Add a heading; `level` is that of its style, from 1, or 0 where its kind alone decides."""
        kind = heading.kind
        same_kind = [i for i, (_, other, _) in enumerate(self._open) if kind and other == kind]
        if level:
            deeper = [i for i, (other, _, _) in enumerate(self._open) if other == 0 or other > level]
            same_level = [i for i, (other, _, _) in enumerate(self._open) if other == level]
            # "Title I" and "Chapter 1" in the same style: the chapter is below the title.
            nests = kind and same_level and self._open[same_level[-1]][1]
            ended = [*deeper, *same_kind, *(() if nests else same_level)]
        else:
            ended = [0] if kind == ANNEX else same_kind
        del self._open[min(ended, default=len(self._open)) :]
        self._open.append((level, kind, title))
