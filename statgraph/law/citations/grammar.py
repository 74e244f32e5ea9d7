"""How references are written in each language: its table of words, as patterns.

Words match in any case, without their accents, and `*` is any letters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache, cached_property, lru_cache
from typing import Any

from statgraph.law.citations.numbers import END, LETTERS, ROMAN, digits_pattern
from statgraph.law.citations.tables import Table, tables, words_under
from statgraph.law.normal_text import normal_text

_SPELLINGS = {"ä": "(?:ä|ae?)", "ö": "(?:ö|oe?)", "ü": "(?:ü|ue?)", "ß": "(?:ß|ss)", "'": "['’]", " ": r"\s+"}
_SPELLINGS |= {"*": r"[\w\-]*", ".": r"\.\s?"}
_BASE_LETTERS = str.maketrans("łøđ", "lod")
_WORD_END = rf"(?:(?<![A-Za-zÀ-ɏ])|{END})"  # "l'", "§" and 和 end where they end
_NEVER = "(?!)"
_ABBREVIATION = (
    # BGB, HundeG, Awb, L.A.U., and not the III of "du III de l'article 4".
    r"(?!(?:[IVX]+)\b)(?:[^\W\d_a-z]\w*[A-Z]\w*|[A-Z][b-df-hj-np-tv-xz]{2,3})\b|(?:[A-Z]\.\s?){2,}"
)


@lru_cache(maxsize=1 << 16)
def plain_word(word: str) -> str:
    """Return a word in lower case, without accents."""
    letters = unicodedata.normalize("NFKD", normal_text(word).casefold().translate(_BASE_LETTERS))
    return letters if letters.isascii() else "".join(c for c in letters if not unicodedata.combining(c))


def words_pattern(words: Iterable[str], *, ending: str = _WORD_END) -> str:
    """Return a pattern of any of the words; it matches nothing where there are none."""
    spelled = [
        tuple(_SPELLINGS.get(letter) or _spelled(letter) for letter in unicodedata.normalize("NFC", word).lower())
        for word in words
    ]
    return f"(?i:{_branches(spelled)}){ending}" if spelled else _NEVER


def _spelled(letter: str) -> str:
    """Return a pattern of a letter with and without its accent."""
    base = plain_word(letter)
    return f"[{letter}{base}]" if letter.isalpha() and len(base) == 1 and base != letter else re.escape(letter)


def _branches(words: Iterable[tuple[str, ...]]) -> str:
    """Return a pattern of words, each a tuple of patterns of letters, as a tree: each letter is tried once."""
    after: dict[str, list[tuple[str, ...]]] = {}
    for word in words:
        after.setdefault(word[0] if word else "", []).append(word[1:])
    branches = [first + _branches(after[first]) for first in sorted(after, reverse=True) if first]
    branches += [""] * ("" in after)
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def all_words(*keys: str) -> set[str]:
    """Return the words that the tables have under any of the keys, in plain letters."""
    return {plain_word(word) for table in tables().values() for key in keys for word in words_under(table, key)}


class Grammar:
    """How references go on behind the word for an article.

    Args:
        languages: in any of which they are written.
        sign: whether they are those behind "§".
        capitals: as `digits_pattern` takes them.

    Attributes:
        first: a number and the parts of the article that it names, with the groups of `digits_pattern`, `letters`,
            `roman`, and `ordinal`; `next` another of the same list, with `through` where it ends a range.
        joined: what may stand between two references of one list; `listed`, a number behind that.
        own: words for the law that the text is in; `same`, for one named before, with its `noun`.
        thereof: a word for the law named before, alone.
        volume_before: a numbered volume of a collection of laws that ends where a number begins ("42 U.S.C."), with
            the groups `volume`, and `collection` or `behind` where that is named; `volume_behind`, one behind a number.
        interrupted: a preposition that waits for its law ("of, and Schedule 1 to,").
        named: what stands before the name of a law; `direct`, before a name that follows the number at once.
        other: the beginning of a law's name; `other_direct`, of one that follows the number at once; `law`, anywhere.
    """

    def __init__(self, languages: tuple[str, ...], *, sign: bool = False, capitals: frozenset[str] = frozenset()):
        self.languages, self._sign, self._capitals = languages, sign, capitals
        self._tables = [tables()[language] for language in languages]
        self.number_first = _merged([table for table in self._tables if "before_number" in table])
        if self.number_first:
            self.first, self.next, self.joined = _number_first_patterns(self.number_first)
            return
        and_, to = self._any("and"), rf"(?:{self._any('to')}|[–—])"
        tens = self._any("tens")
        ordinal = rf"(?:{tens}[\s-]+)*{self._any('tens', 'ordinals', 'more_ordinals')}"
        numbered = rf"(?:{tens}[\s-]+)*{self._any('tens', 'ordinals', 'single')}"
        behind = self._any("part_behind", dot=True)
        rest = self._rest(rf"(?:,\s*{and_}|,|{and_}|{to})", ordinal, behind)
        others = rf"(?P<roman>{ROMAN})|(?P<ordinal>{numbered})(?!\s*{behind})"
        volume = rf"(?!\s*{self._any('collections')})"  # the 42 of "section 1 and 42 U.S.C. 1983"
        opening = rf"\s*(?:{self._any('from')}\s*)?(?:{self._any('number_sign', dot=True)}\s*)?"
        self.first = re.compile(
            rf"{opening}(?:(?P<letters>{LETTERS})?{self._digits(degree=True)}|{others}){volume}{rest}"
        )
        again = rf"(?:(?:[^\W\d_]{{1,4}}(?:['’]|\s+))?(?:§+|{self._any('article', 'section', dot=True)})\s*)?"
        # Not across a comma: "à l'article 3, à l'article 5" is no range.
        join = rf"\s*+(?:(?P<through>{to}\s*{again}|,\s*{to})|,\s*{and_}|,|;(?!\s*\n)|{and_})\s*"  # not "; 3."
        number = rf"(?:(?P<letters>{LETTERS})?{self._digits(degree=False)}(?!\s?°)|{others}){volume}"
        self.next = re.compile(join + number + rest)
        self.joined = re.compile(rf"\s*(?:{and_}|{to}|,)\s*")
        self.listed = re.compile(rf"(?:,\s*{and_}|,|(?<!\w){and_})\s*(?P<digits>\d+)(?P<letter>[a-z]?)(?!\s?[°ºª)])")
        self._compile_laws()

    def _any(self, *keys: str, dot: bool = False) -> str:
        words = [word for table in self._tables for key in keys for word in words_under(table, key)]
        return words_pattern(
            (word for word in words if not (self._sign and "§" in word)),
            ending=rf"(?:\.|{_WORD_END})" if dot else _WORD_END,
        )

    def _digits(self, *, degree: bool) -> str:
        marks = {mark for table in self._tables for mark in table.get("marks", ())}
        if not degree and not all("°" in table.get("marks", ()) for table in self._tables):
            marks.discard("°")  # "l'article 5, 2°"
        joins = {word for table in self._tables for key in ("and", "to") for word in table.get(key, ())}
        letters = "".join(sorted(word.upper() for word in joins if re.fullmatch("[a-z]", word)))
        apart = {*joins, *self._listed("of"), *self._listed("small")}
        words = self._listed("not_added")
        return digits_pattern(
            joins="|".join(sorted(word for word in apart if len(word) == 2)),
            not_added="|".join(sorted(words)),
            marks="|".join(sorted(marks, key=len, reverse=True)),
            loose=f"[IVX{letters}{'a-eg-z' * self._sign}]",
            bis_is_to="bis" in joins,
            capitals=self._capitals,
        )

    def _rest(self, and_: str, ordinal: str, behind: str) -> str:
        """Return a pattern of what may stand between a number and the text that it is of: "(2)", ", al. 2", ", tweede
        lid", "Abs. 2". No word is matched in two ways: a long list would be tried in all combinations."""
        ordinals = rf"{ordinal}(?:\s?{and_}\s?{ordinal}){{0,5}}"
        bracket = r"\([^()]{1,12}\)"
        digits, letter = r"\d+(?:[-.]\d+)*\w{0,2}[°ºª]?(?:\)(?=,))?", r"[a-z]\b(?:\)|(?!\.))"
        place = rf"(?:{bracket}|{digits}|[IVX]+\b|{letter}|{ordinals})"
        one, many = self._any("part", dot=True), self._any("parts", dot=True)
        # "letters a) and d), 12": what goes on from letters are letters. And not the 6 of "Abs. 1, 6 Abs. 2".
        own = rf"(?!\s*(?!{self._any('subparts', dot=True)}){many})"
        places = "|".join(rf"{kind}(?:\s*{and_}\s*{kind}{own})*" for kind in (bracket, digits, r"[IVX]+\b", letter))
        division = self._any("division")
        numeral = r"(?:[IVX]+(?:er)?\b|\d+\w?\b)"
        symbol = r"(?:\d+°|[IVX]+\b|[a-z]\))"
        roman = r"[IVX]+\b(?:\s\d+\b)?|" if self._sign else ""  # "§ 823 I 2"
        parts = (
            rf"\([^()]{{1,30}}\)(?:\s*{and_}\s*{bracket})*",
            rf"(?:{and_}\s*)?{ordinals}\s{behind}",
            rf"(?:{and_}\s*(?={many}\s*{place}(?!\s*\()))?{many}\s*(?:{places}|{ordinals})",
            rf"{one}\s*{place}",
            rf"(?:{roman}\.?{symbol})(?:\s?(?:,|et|à|ou)?\s?{symbol})*",
            self._any("following", dot=True),
            rf"{self._any('of')}\s*(?!{self._any('volume')}\s\d)"
            rf"(?:(?:{ordinal}\s)?{division}\s{numeral}|{ordinal}\s{division})",
        )
        return rf"(?:(?:[^\S\n]*+,)?[^\S\n]*+(?:{'|'.join(parts)}))*"

    def _compile_laws(self) -> None:
        of, bare, last = self._any("of"), self._any("bare"), self._any("laws_last")
        abbreviation = rf"{_ABBREVIATION}|{self._any('abbreviations')}"
        first = rf"(?:{self._any('adjectives')}\s+)?{self._any('laws', 'bare')}"
        small, title_last = self._any("title_small"), "|".join(self._listed("title_last")) or _NEVER
        title = rf"(?:(?:[A-Z\d][\w'’&\-]*|\([^()]*\)|{small}),?\s+){{0,12}}(?:{title_last})\b"
        words = rf"(?:(?!{self._any('not_in_name')})[\w'’\-]+\s+){{0,3}}{last}"
        self.own = re.compile(rf"\s*,?\s*{self._any('own')}")
        self.same = re.compile(rf"\s*,?\s*{self._any('same')}\s*(?P<noun>[\w\-]+)")
        self.code_noun = re.compile(self._any("code_nouns"))
        of_collection = rf",?\s*(?:of\s+(?:the\s+)?)?{self._any('collections')}"
        volume = rf"{self._any('volume')}\s+\d+[A-Z]?\b"
        self.volume_behind = re.compile(rf"\s*,?\s*(?:{of}\s*)?(?P<volume>{volume}(?P<collection>{of_collection})?)")
        named = rf"{volume}(?P<collection>{of_collection})?|\d+[A-Z]?(?P<behind>{of_collection})"
        self.volume_before = re.compile(rf"(?<![\w.-])(?P<volume>{named})\s*,?\s*$")
        self.thereof = re.compile(rf"\s*{self._any('thereof')}")
        self.interrupted = re.compile(rf"\s*{of},")
        self.named = re.compile(rf"\s*,?\s*{of}\s*(?=\w)")
        self.direct = re.compile(
            rf"[^\S\n]*,?[^\S\n]*(?=[^\W\d_a-z]|{bare}|{self._any('abbreviations')}|(?:[a-z]\.){{2}})"
        )
        self.other = re.compile(rf"{first}|{words}|{abbreviation}|{title}")
        own = "|".join({re.escape(plain_word(word.split()[-1])) for word in self._listed("own")})  # "of this": this
        self.law = re.compile(rf"(?<![\w'’-])(?!(?i:{own})\b)(?:{first}|{last}|{self._any('abbreviations')}|{title})")
        self.other_direct = re.compile(rf"{first}|{last}|{abbreviation}|{title}")

    def ordinal_value(self, words: str) -> str:
        """Return the number of an ordinal, "" if it has none: "trigésima segunda" is 32."""
        pattern, values = self._ordinals
        stems = list(pattern.finditer(plain_word(words)))
        return str(sum(values[stem[0]] for stem in stems)) if stems and not stems[0].start() else ""

    @cached_property
    def _ordinals(self) -> tuple[re.Pattern[str], dict[str, int]]:
        """Return a pattern of the stems of ordinals in plain letters, the longest first, and the number of each."""
        values: dict[str, int] = {}
        stems: dict[str, str] = {}
        for table in self._tables:
            forms = [*enumerate(table.get("ordinals", ()), start=1), *((1, word) for word in table.get("single", ()))]
            forms += [(10 * tens, word) for tens, word in enumerate(table.get("tens", ()), start=1)]
            for value, word in forms:
                stem = plain_word(word).rstrip("*")
                values.setdefault(stem, value)
                stems[stem] = re.escape(stem) + END * ("*" not in word)
        return re.compile("|".join(stems[stem] for stem in sorted(stems, key=len, reverse=True)) or _NEVER), values

    def _listed(self, key: str) -> list[str]:
        return [word for table in self._tables for word in table.get(key, ())]


grammar_of = cache(Grammar)  # made of some hundred patterns


def _merged(found: Iterable[Table]) -> Table:
    """Return tables as one, each key with the values of all."""
    merged: dict[str, Any] = {}
    for table in found:
        for key, values in table.items():
            if key in merged and not isinstance(values, str):
                values = merged[key] | values if isinstance(values, dict) else [*merged[key], *values]
            merged[key] = values
    return merged


def _number_first_patterns(table: Table) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of a number behind its sign, of the next, with the groups `numeral`, `inner`, `unit` and
    `branches`, and of what stands between two references."""
    sign = table["before_number"]
    unit, branch, part = ("|".join(map(re.escape, table[key])) or _NEVER for key in ("article", "branch", "part"))
    number = rf"[{''.join((*table['digits'], *table['units']))}\d]+"
    to, and_ = (words_pattern(table[key]) for key in ("to", "and"))
    parts = rf"(?:\s*(?:{to}|{and_})?\s*{sign}?\s*[（(]?\s*{number}\s*[)）]?\s*(?:{part}))*"
    # "第190-1條" is "第190條之1".
    inner = rf"(?:\s*(?:-|{branch})\s*(?P<inner>{number})(?=\s*(?:{unit})))?"
    branches = rf"(?P<branches>(?:\s?(?:{branch})\s?{number})*)"
    item = rf"\s*(?P<numeral>{number}){inner}\s*(?:(?P<unit>{unit}){branches}{parts})?"
    following = rf"\s*(?:(?P<through>{to})|{and_})\s*{sign}?{item}"
    return re.compile(item), re.compile(following), re.compile(rf"\s*(?:{to}|{and_})\s*")
