"""Which articles an article names in its text: "under articles L. 12-3 and L. 12-5 of the Housing Code"."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from statgraph.law.citations.cited_texts import CitedTexts
from statgraph.law.citations.numbering import (
    ALOUD,
    ARTICLE,
    INNER,
    INNER_SECTION,
    SECTION,
    SHORT,
    Number,
    NumberReader,
    capitals_apart,
    other_units,
    title_numbers,
)
from statgraph.law.normal_text import normal_places, normal_text
from statgraph.law.records import AnyArticle, Article, CitingText
from statgraph.law.titles import number_or_title

REFERS_TO = "refers_to"  # the relation of an article to those that it names
REFERENCES = "references"  # in an article's metadata: the ids of those that it names, where its source says it
LONGEST_RANGE = 50
_SPELLED = re.compile(r"(?:[A-Z]{1,2}\.?\s?)?\*?\d[\w.-]*\w|(?:[A-Z]{1,2}\.?\s?)?\d|\b[IVXLC]+\b")  # a number
_SECTION = re.compile(r"\W*sec", re.IGNORECASE)


Ragged = tuple[np.ndarray, np.ndarray]  # where each row's values begin (rows + 1,) int64, and all values (values,)


class Reference(NamedTuple):
    """Numbers that a text names ("L. 1, 2 and L. 5 to L. 7"), where they stand in it, and the code that they are of.

    `code` is None where they are of a text that is not in the corpus; `unit` is what the text calls them; `is_exact`
    where the number of a volume stands with them, so that no other code can be meant: "42 U.S.C. § 1983".
    """

    numbers: tuple[Number, ...]
    unit: str
    start: int
    end: int
    code: str | None
    is_exact: bool = False


class ReferenceFinder:
    """Finds the articles that a text names by number, in its own code or in another that it names.

    A word for an article counts where the code calls its articles so: in an act with sections, "Article 5" is another
    text's.

    Args:
        titles: the number of each article, or its title, which begins with it ("Art. L12-3, Housing Code").
        codes: the title of the code that each belongs to.
        asked: whether texts are questions: "section 5" may be an article, and "article 1 and article 2 of the Dog Act"
            are both of that act.
    """

    def __init__(self, titles: Sequence[str], codes: Sequence[str], *, asked: bool = False):
        self._asked = asked
        numbers = title_numbers(titles, codes)
        self.keys = ["" if number is None else _kind(number.unit) + number.key for number in numbers]
        self._rows: dict[str, dict[str, int]] = {}
        self._units: dict[str, set[str]] = {}
        for row, (number, key, code) in enumerate(zip(numbers, self.keys, codes, strict=True)):
            rows, units = self._rows.setdefault(code, {}), self._units.setdefault(code, {INNER})
            if number is not None:
                rows.setdefault(key, row)
                units.add(number.unit)
        if not asked:  # of three annexes I, a text may mean any
            for (code, key), times in Counter(zip(codes, self.keys, strict=True)).items():
                if times > 1 and " " in key:
                    del self._rows[code][key]
        # What joins the parts of each code's numbers, as the full stop of "1.12".
        self._marks = {
            code: {mark for mark in ".-" if any(mark in key for key in rows)} for code, rows in self._rows.items()
        }
        for own in self._units.values():
            own |= {INNER_SECTION} if SECTION in own and ARTICLE not in own else set()
        units = {ARTICLE}.union(*self._units.values()) - {""}
        if sum("." in key for key in self.keys) < sum("-" in key for key in self.keys):
            units -= {INNER, INNER_SECTION}  # no law with "subsection 12(3)" numbers its sections "12-3"
        units |= {SECTION} if asked else set()
        units |= {SHORT} if asked or any(_SECTION.match(title) for title in titles) else set()
        units |= {ALOUD} if asked and any("§" in title for title in titles) else set()
        self._reader = NumberReader(units, capitals_apart(titles, codes))
        self._texts = CitedTexts(self._rows)

    def find(self, text: str, code: str) -> list[int]:
        """Return the rows of the articles that a text of a code names, each once, in the order of the text."""
        found: dict[int, None] = {}
        for reference in self.cited(text, code):
            if reference.code is not None:
                found.update(dict.fromkeys(self.rows_of(reference, reference.code)))
        return list(found)

    def places(self, text: str, code: str) -> list[tuple[int, int, int]]:
        """Return (start, end, row) of the articles that a text of a code, in NFC, names, in its order.

        Each number of a list has its own place, the first with the word before it; a list whose numbers cannot be
        separated is one place, of its first article.
        """
        at_normal, text = normal_places(text), normal_text(text)
        placed = []
        for reference in self.cited(text, code):
            spelled = list(_SPELLED.finditer(text, reference.start, reference.end))
            parts = [reference._replace(numbers=(number._replace(through=False),)) for number in reference.numbers]
            if len(spelled) != len(parts):
                parts, spelled = [reference], list(re.compile(r"(?s).+").finditer(text, reference.start, reference.end))
            for at, (part, match) in enumerate(zip(parts, spelled, strict=True)):
                rows = [] if reference.code is None else self.rows_of(part, reference.code)
                placed += [(match.start() if at else reference.start, match.end(), row) for row in rows[:1]]
        return [(at_normal[start], at_normal[end - 1] + 1, row) for start, end, row in placed]

    def cited(self, text: str, code: str) -> list[Reference]:
        """Return the references of a text of a code, in its order; their places are those in its `normal_text`."""
        text = normal_text(text)
        found: list[Reference] = []
        of: str | None = code
        speaks_for: str | None = code
        lists = list(self._reader.lists(text))
        languages = {language for numbers in lists for language in numbers.grammar.languages}
        amendments = [] if self._asked else self._texts.amendments(text, code, languages)
        for numbers in lists:
            while amendments and amendments[0].start <= numbers.start:
                amendment = amendments.pop(0)
                cited = [
                    (one.start, one.code)
                    for one in found
                    # No "Regulations 2003", which is no article of its code.
                    if one.start >= amendment.sentence and (one.code is None or self.rows_of(one, one.code))
                ]
                speaks_for = amendment.amended(cited, speaks_for)
            volume = self._texts.volume(text, numbers, speaks_for)
            of = volume[0] if volume else self._texts.named(text, numbers, code=speaks_for, last=of)
            joined = self._joined(numbers.numbers, of)
            found.append(Reference(joined, numbers.unit, numbers.start, numbers.end, of, bool(volume)))
        for at in range(len(found) - 2, -1, -1):
            one, after = found[at], found[at + 1]
            if (self._asked or after.code != code) and lists[at].joins(text, after.start):
                if not self._asked:
                    # "section 4 or section 5 of the Dog Act" leaves open whose section 4 it is.
                    found[at] = one._replace(code=None)
                elif one.unit == after.unit:
                    found[at : at + 2] = [after._replace(numbers=one.numbers + after.numbers, start=one.start)]
        return found

    def _joined(self, numbers: tuple[Number, ...], code: str | None) -> tuple[Number, ...]:
        """Return numbers with those as one that a dash joins, where the code, or any if it is open, has that one."""
        joined: list[Number] = []
        for number in numbers:
            key = f"{joined[-1].keys[0]}-{number.keys[-1]}" if number.dashed else ""
            if key and any(key in self._rows.get(of, ()) for of in ((code,) if code else self._rows)):
                joined[-1] = joined[-1]._replace(keys=(key,))
            else:
                joined.append(number)
        return tuple(joined)

    def rows_of(self, reference: Reference, code: str) -> list[int]:
        """Return the rows of the numbers of a reference in a code."""
        units = self._units.get(code, set())
        unit = SECTION if reference.unit == SHORT else reference.unit
        if not (self._asked or unit in units or "" in units):
            return []
        kind = _kind(reference.unit)
        found: list[int] = []
        last = None
        for number in reference.numbers:
            rows = self._rows_with(number, kind, code, is_exact=reference.is_exact)
            if rows and number.through and last is not None and 0 < rows[0] - last <= LONGEST_RANGE:
                found.extend(range(last + 1, rows[0]))
            found.extend(rows)
            last = rows[-1] if rows else None
        return found

    def row_keys(self, reference: Reference) -> list[str]:
        """Return what the first number of a reference may be in `keys`, the best first."""
        return [_kind(reference.unit) + key for key in reference.numbers[0].keys]

    def _rows_with(self, number: Number, kind: str, code: str, *, is_exact: bool) -> Sequence[int]:
        """Return the row of a number, or those of "5-8" where no number of the code has a hyphen."""
        rows = self._rows[code]
        for key in number.keys:
            row = rows.get(kind + key)
            if row is not None:
                return (row,)
        if "." in key and "." not in self._marks[code] and not is_exact:  # "artículo 36.2"
            row = rows.get(kind + key.partition(".")[0])
            return () if row is None else (row,)
        if "-" in key and (self._asked or "-" not in self._marks[code]):
            first, _, through = key.partition("-")
            first = first.partition("(")[0]
            start, stop = rows.get(kind + first), rows.get(kind + through)
            if start is not None and stop is not None and 0 < stop - start <= LONGEST_RANGE:
                return range(start, stop + 1)
            return () if start is None or "(" not in key else (start,)
        return ()


def _kind(unit: str) -> str:
    """Return what stands before the number of an article in `keys`: nothing, or the unit of other parts of a law."""
    return f"{unit} " if unit in other_units() else ""


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
    row_values: list[int] = values[starts[row] : starts[row + 1]].tolist()
    return row_values


def citations_among(articles: tuple[AnyArticle, ...]) -> Citations:
    """Return which of the others each article names: those that its source says, else those that are in its text.

    The last answer is kept: the articles of a large law take seconds to read, and several parts of a run ask for it.
    """
    return _citations(articles, tuple(map(_stated, articles)))  # articles that differ in metadata alone are equal


def _stated(article: AnyArticle) -> tuple[str, ...]:
    """Return the ids of the articles that an article names as its source says, () where that says none."""
    stated = getattr(article, "metadata", {}).get(REFERENCES)
    return tuple(filter(None, map(str, stated))) if isinstance(stated, list | tuple) else ()


@lru_cache(maxsize=1)
def _citations(articles: tuple[AnyArticle, ...], stated: tuple[tuple[str, ...], ...]) -> Citations:
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
