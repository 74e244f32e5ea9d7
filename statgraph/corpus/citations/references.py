"""Which articles an article names in its text: "under articles L. 12-3 and L. 12-5 of the Housing Code"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Protocol

import numpy as np

from statgraph.corpus.citations.cited_texts import CitedTexts
from statgraph.corpus.records import Article, CitingText
from statgraph.corpus.titles import number_or_title
from statgraph.corpus.tree import PlacedArticle

REFERS_TO = "refers_to"  # the relation of an article to those that it names
REFERENCES = "references"  # in an article's metadata: the ids of those that it names, where its source says it
LONGEST_RANGE = 50
_LOOK_AHEAD = 120  # characters after a number in which its code is named

LETTERS = r"(?:LO|[A-Z])\.?\s?\*{0,2}\s?"
# "5 bis" is another article than 5; the German "4 bis 6" is a range.
_ADDED = (
    r"(?:\s(?:bis(?!\s*§?\s*\d)|ter|quater|quinquies|sexies|septies|octies|nonies|[a-z]*(?:decies|vicies))\b"
    r"(?:\s[A-Z]\b(?!['’]))?)?"
)
# "§ 12a" and "R. 142-1-A" are articles of their own, "L. 1 C. civ." is L. 1;
# "§ 12f." is § 12 and the next; Dutch law has "artikel 7:201".
_LETTER_BEHIND = r"(?:[\s-]?[A-Z]\b(?!['’]|\.\s?[a-z])|(?:[a-eg-z]|f(?!\.))\b)"
DIGITS = rf"\d+(?:[-.:]\d+)*{_LETTER_BEHIND}?(?!\d|\s?°){_ADDED}"
NUMBER = rf"(?:{LETTERS})?{DIGITS}"
ARTICLE = r"\b[Aa]rt(?:icle|ikel|ícul|icol)?(?:s|en|n|os?|i)?\b\.?"
SECTION = r"(?:\b[Ss]ections?\b|§{1,2})"
_AND = r"(?:et|and|ou|or|en|of(?!\s\d{4}|\s\d+\s[A-Z])|und|oder|sowie)\b"  # Dutch "5 of 6", not "of 3 May"
_TO = r"(?:à|au\b|to\b|tot(?: en met)?\b|t/m\b|bis\b|–)"
JOIN = rf"\s*(?:,\s*{_AND}|,|;|\b{_AND}|\b{_TO}|–)\s*"
# What may come between a number and the text it belongs to: "(2)", ", alinéa 2", ", tweede lid", "Abs. 2".
# No word is matched in two ways: a long list of them would be tried in all combinations.
_ORDINAL = r"(?:\d+(?:er|ère|ème|e)|(?:avant-)?[^\W\d_]+(?:iers?|ière|ième|cond|de|ste))\b"
_PLACE = r"(?:\([^()]{1,12}\)|\d+\w?\b°?|[IVX]+\b|[a-z]\b)"
_QUALIFIER = "|".join(
    (
        rf"\([^()]{{1,30}}\)(?:\s*(?:,|{_AND}|{_TO})\s*\([^()]{{1,12}}\))*",
        r"(?<=\d)(?:er|ère)\b",
        rf"{_ORDINAL}(?:(?:,|\s(?:et|en|à|tot en met))\s{_ORDINAL}){{0,5}}"
        r"\s(?:alinéas?|phrases?|tirets?|lid|leden|volzin|zin)\b",
        r"(?:alinéas?|paragraphes?|lid|leden|onder(?:deel|delen)?|aanhef(?: en onder)?|sub|"
        r"sub-?sections?|(?:sub-?)?paragraphs?|paras?|clauses?|points?|"
        r"Abs(?:atz|\.)|S(?:atz|\.)|Nrn?\.|Nummer|Nr|Buchst(?:abe|\.)|Halbsatz|Alt\.)"
        rf"\s*{_PLACE}(?:\s*(?:,|{_AND}|{_TO})\s*{_PLACE})*",
        r"(?:\d+°|[IVX]+\b|[a-z]\))(?:\s?(?:,|et|à|ou)?\s?(?:\d+°|[IVX]+\b|[a-z]\)))*",
        r"et suivants?\b|et seq\b\.?|ff?\b\.?|e\.v\.",
        r"(?:du|de la|of)\s(?:[^\W\d_]+(?:ième|ier|ière)\s)?"
        r"(?:titre|livre|chapitre|section|partie|Part|Chapter|Title|Book)\s(?:[IVX]+(?:er)?\b|\d+\w?\b|législative|réglementaire)",
    )
)
_QUALIFIERS = rf"(?:(?:[^\S\n]*,)?[^\S\n]*(?:{_QUALIFIER}))*"
_JOINED = re.compile(rf"\s*(?:,|\b{_AND}|\b{_TO}|–)\s*")
_PART = re.compile(rf"(?P<join>{_TO})|(?P<letters>{LETTERS})?(?P<digits>{DIGITS}){_QUALIFIERS}")


Ragged = tuple[np.ndarray, np.ndarray]  # where each row's values begin (rows + 1,) int64, and all values (values,)


@dataclass(frozen=True, slots=True)
class Reference:
    """Numbers that a text names ("L. 1, 2 and L. 5 to L. 7"), where they stand in it, and the code that they are of.

    `code` is None where they are of a text that is not in the corpus.
    """

    numbers: str
    start: int
    end: int
    code: str | None


class PlacedText(PlacedArticle, Protocol):
    """An article as far as references go."""

    title: str
    number: str
    rubric: str
    text: str


class ReferenceFinder:
    """Finds the articles that a text names by number, in its own code or in another that it names.

    Args:
        titles: the title of each article, which begins with its number ("Art. L12-3, Housing Code").
        codes: the title of the code that each belongs to.
    """

    def __init__(self, titles: Sequence[str], codes: Sequence[str]):
        # Where articles are called sections; elsewhere a section is a heading.
        sections = any(re.match(rf"\W*{SECTION}", title) for title in titles)
        word = f"(?:{ARTICLE}|{SECTION})" if sections else ARTICLE
        self._cited = re.compile(rf"{word}\s*({NUMBER}{_QUALIFIERS}(?:{JOIN}{NUMBER}{_QUALIFIERS})*)")
        title_number = re.compile(rf"\W*{word}\s*({NUMBER})")
        self._rows: dict[str, dict[str, int]] = {}
        for row, (title, code) in enumerate(zip(titles, codes, strict=True)):
            numbers = self._rows.setdefault(code, {})
            match = title_number.match(title)
            if match:
                numbers.setdefault(article_number(match[1]), row)
        self._texts = CitedTexts(self._rows)

    def find(self, text: str, code: str) -> list[int]:
        """Return the rows of the articles that a text of a code names, each once, in the order of the text."""
        found: dict[int, None] = {}
        for reference in self.cited(text, code):
            if reference.code is not None:
                found.update(dict.fromkeys(self.rows_of(reference.numbers, reference.code)))
        return list(found)

    def cited(self, text: str, code: str) -> list[Reference]:
        """Return the references of a text of a code, in its order."""
        cited = list(self._cited.finditer(text))
        named: list[str | None] = []
        for reference in cited:
            after = text[reference.end() : reference.end() + _LOOK_AHEAD]
            named.append(self._texts.named(after, code, named[-1] if named else code))
        for at in range(len(cited) - 2, -1, -1):
            # "section 4 or section 5 of the Dog Act" leaves open whose section 4 it is; ", and section 5" does not.
            if named[at + 1] != code and _JOINED.fullmatch(text, cited[at].end(), cited[at + 1].start()):
                named[at] = None
        return [Reference(match[1], *match.span(), of) for match, of in zip(cited, named, strict=True)]

    def rows_of(self, numbers: str, code: str) -> list[int]:
        """Return the rows of numbers in a code; a number without letters takes those of the one before."""
        rows = self._rows.get(code, {})
        found: list[int] = []
        letters, last, through = "", None, False
        for part in _PART.finditer(numbers):
            if part["join"]:
                through = True
                continue
            letters = part["letters"] or letters
            row = rows.get(article_number(letters + part["digits"]))
            if row is None and not part["letters"]:
                row = rows.get(article_number(part["digits"]))
            if row is not None:
                if through and last is not None and 0 < row - last <= LONGEST_RANGE:
                    found.extend(range(last + 1, row))
                found.append(row)
            last, through = row, False
        return found


@dataclass(frozen=True, eq=False)
class Citations:
    """Which articles name which others, as a ragged array.

    Attributes:
        targets: (citations,) int32 rows of the cited articles: those of each article in the order of its text, each
            once, article by article.
        starts: (articles + 1,) int64, where each article's begin in `targets`.
    """

    targets: np.ndarray
    starts: np.ndarray

    @property
    def refers_to(self) -> Ragged:
        """Return (starts, rows): the articles that each article cites."""
        return self.starts, self.targets

    @cached_property
    def referred_by(self) -> Ragged:
        """Return (starts, rows): the articles that cite each article, ascending."""
        sources = np.repeat(np.arange(len(self.starts) - 1, dtype=np.int32), np.diff(self.starts))
        counts = np.bincount(self.targets, minlength=len(self.starts) - 1)
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return starts, sources[np.argsort(self.targets, kind="stable")]

    @property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (citing rows, cited rows), (citations,) int64 each."""
        sources = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        return sources, self.targets.astype(np.int64)


def ragged_row(ragged: Ragged, row: int) -> list[int]:
    """Return the values of one row of a ragged array."""
    starts, values = ragged
    return values[starts[row] : starts[row + 1]].tolist()


def citations_among(articles: tuple[PlacedText, ...]) -> Citations:
    """Return which of the others each article names: those that its source says, else those that are in its text.

    The last answer is kept: the articles of a large law take seconds to read, and several parts of a run ask for it.
    """
    return _citations(articles, tuple(map(_stated, articles)))  # articles that differ in metadata alone are equal


def _stated(article: PlacedText) -> tuple[str, ...]:
    """Return the ids of the articles that an article names as its source says, () where that says none."""
    stated = getattr(article, "metadata", {}).get(REFERENCES)
    return tuple(filter(None, map(str, stated))) if isinstance(stated, list | tuple) else ()


@lru_cache(maxsize=1)
def _citations(articles: tuple[PlacedText, ...], stated: tuple[tuple[str, ...], ...]) -> Citations:
    finder = ReferenceFinder(list(map(number_or_title, articles)), [article.path[0] for article in articles])
    rows = {getattr(article, "article_id", ""): row for row, article in enumerate(articles)} if any(stated) else {}
    cited = []
    for row, article in enumerate(articles):
        found = [rows[article_id] for article_id in dict.fromkeys(stated[row]) if article_id in rows]
        found = found or finder.find(article.text, article.path[0])
        cited.append([other for other in found if other != row])
    starts = np.cumsum([0, *map(len, cited)]).astype(np.int64)
    return Citations(np.array([row for rows in cited for row in rows], dtype=np.int32), starts)


def cited_articles(texts: Iterable[CitingText], articles: Sequence[Article]) -> list[tuple[str, ...]]:
    """Return for each text the ids of the articles that its title and text name, each once, in that order.

    A number without a code is of the code that the title names, or of the only code of the articles.
    """
    texts = list(texts)
    if not texts:
        return []
    codes = [article.code for article in articles]
    finder = ReferenceFinder(list(map(number_or_title, articles)), codes)
    named = sorted(dict.fromkeys(codes), key=len, reverse=True)
    found = (finder.find(f"{text.title}\n{text.text}", _code_of(text.title, named)) for text in texts)
    return [tuple(articles[row].article_id for row in rows) for rows in found]


def _code_of(title: str, codes: Sequence[str]) -> str:
    """Return the first of the codes that a title names; else the only one, or "" where there are several."""
    named = (code for code in codes if re.search(rf"\b{re.escape(code)}\b", title, re.IGNORECASE))
    return next(named, codes[0] if len(codes) == 1 else "")


def article_number(number: str) -> str:
    """Return an article number in comparable form: `R. *123-4 A` and `R123-4A` are one, `R123-4A`; `1.12` and `11.2`
    are two."""
    return re.sub(r"[\s*]+|(?<!\d)\.|\.(?!\d)", "", number).upper()
