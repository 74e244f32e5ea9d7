"""Which codes of a corpus a text mentions, by title or as people shorten it: "CSS", "C. trav.", "L.A.U.", 民法典."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import islice
from typing import NamedTuple

from statgraph.law.citations.grammar import all_words, plain_word, words_pattern
from statgraph.law.citations.numbers import with_carets
from statgraph.law.citations.tables import tables
from statgraph.law.normal_text import normal_text

_CHINESE = "㐀-鿿"
_TOKEN = re.compile(rf"[{_CHINESE}]|(?:[^\W\d_]\.){{2,}}|[^\W_{_CHINESE}]+\.?")
_JOINED_ON = re.compile(r"\s(?:et|and|und|en|y|e)\s", re.IGNORECASE)
_LAST_YEAR = re.compile(r",?\s(?:of |von |vom |van )?(?:1[6-9]|20)\d\d$")
_BRACKET = re.compile(r"\s*\(([^()]*)\)")
_NUMBERED = re.compile(r".*?\d+[-/]\d+")  # "Ley 7/2015, de 3 de mayo, de ..."
_NUMBER_OR_DATE = re.compile(
    r"\s(?:n[.°ºo]*\s?)?\d+[-/]\d+\b|,?\s(?:[^\W\d_]{1,3}\s)?\d{1,2}\.?º?\s(?:de\s)?[^\W\d_]{3,}(?:\s(?:de\s)?\d{4})?\b,?"
)
_SHORTEST_STEM = 3


class Mention(NamedTuple):
    """A place in a question, in characters, where it mentions codes: more than one where they share the short form."""

    start: int
    end: int
    codes: tuple[str, ...]


class _Word(NamedTuple):
    plain: str
    raw: str
    start: int
    end: int


# The words by which codes are named, without the endings of their cases if they are declined, and those endings.
_Form = tuple[tuple[str, ...], re.Pattern[str] | None]


class CodeMentions:
    """Finds the codes that a text mentions.

    A code is mentioned by its title, with or without small words, its year, its number and date, and 中华人民共和国; by
    its number ("Ley 7/2015", "42 U.S.C."); by what stands before or within brackets in it; by the part before "and"
    ("Code rural" for "Code rural et de la pêche maritime"); by its initials ("CSS", "k.c."); by its words cut with a
    full stop ("C. trav.").

    Args:
        codes: the titles of the corpus' codes.
    """

    def __init__(self, codes: Iterable[str]):
        self._initials: dict[str, list[str]] = {}
        self._codes: dict[_Form, list[str]] = {}
        codes = list(codes)
        volumes = _volume_forms(codes)
        titled = {_plain_words(code): code for code in reversed(codes)}
        for code in codes:
            endings = _endings_of(code)
            for form in _forms(code) | set(map(_plain_words, volumes.get(code, ()))):
                if titled.get(form, code) == code:  # another's whole title is no short form of this one
                    self._codes.setdefault((tuple(_stem(word, endings) for word in form), endings), []).append(code)
            initials = "".join(word.plain[0] for word in _words(_short(code)))
            if len(initials) > 1 and initials.isalpha() and initials.isascii():
                self._initials.setdefault(initials.upper(), []).append(code)
        self._endings = tuple({endings: None for _, endings in self._codes})
        self._longest = max((len(form) for form, _ in self._codes), default=1)
        # By the first letter, since a word may be cut down to it.
        self._cut: dict[str, list[tuple[_Form, list[str]]]] = {}
        for declined, named in sorted(self._codes.items(), key=lambda item: -len(item[0][0])):
            self._cut.setdefault(declined[0][0][0], []).append((declined, named))

    def find(self, question: str) -> list[Mention]:
        """Return the mentions in a text, in its order; of several that begin at one word, the longest."""
        question = normal_text(question)
        words = list(_words(question))
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            size, codes = self._mentioned(words[at : at + self._longest])
            if codes and not _goes_on().match(question[words[at + size - 1].end :].lstrip(" ,")):
                mentions.append(Mention(words[at].start, words[at + size - 1].end, codes))
            at += max(size, 1)
        return mentions

    def begins(self, text: str) -> tuple[tuple[str, ...], bool]:
        """Return the codes with whose mention a text begins, and whether that goes on to another name."""
        words = list(islice(_words(text), self._longest))
        size, codes = self._mentioned(words) if words else (0, ())
        return codes, bool(codes and _goes_on().match(text[words[size - 1].end :].lstrip(" ,")))

    def _mentioned(self, words: Sequence[_Word]) -> tuple[int, tuple[str, ...]]:
        """Return how many of the first words name a code, and which codes."""
        for endings in self._endings:
            stems = tuple(_stem(word.plain, endings) for word in words)
            for size in range(len(stems), 0, -1):
                codes = self._codes.get((stems[:size], endings))
                if codes:
                    return size, tuple(codes)
        if any(word.raw[-1] == "." for word in words):
            for (form, _), codes in self._cut.get(words[0].plain[0], ()):
                if len(form) <= len(words) and all(map(_cuts, words, form)):
                    return len(form), tuple(codes)
        letters = words[0].raw.replace(".", "")
        if (letters.isupper() or words[0].raw.count(".") > 1) and letters.upper() in self._initials:
            return 1, tuple(self._initials[letters.upper()])
        return 0, ()


def _cuts(word: _Word, of_title: str) -> bool:
    """Return whether a word is one of a title, whole or cut with a full stop."""
    return word.plain == of_title or (word.raw[-1] == "." and of_title.startswith(word.plain))


def _forms(code: str) -> set[tuple[str, ...]]:
    """Return the ways in which a code is named, each as its words."""
    bare = _BRACKET.sub("", code)
    named = {code, _LAST_YEAR.sub("", code), bare, *(name for name in _BRACKET.findall(code) if len(name) > 1)}
    named.update(code.removeprefix(table["state"]) for table in tables().values() if "state" in table)
    named.update(_NUMBERED.findall(bare)[:1])
    forms = {_plain_words(name) for name in named}
    parts = (_plain_words(_JOINED_ON.split(code)[0]), _plain_words(_short(code)))
    return {form for form in (*forms, *(part for part in parts if len(part) > 1)) if form}


class Volume(NamedTuple):
    """A code that is a numbered volume of a collection of laws.

    Attributes:
        name: "Title 42".
        number: "42".
        collection: the names of the collection, () where the title of the code does not say which.
    """

    name: str
    number: str
    collection: tuple[str, ...]

    def forms(self, collections: Iterable[Sequence[str]]) -> Iterator[str]:
        """Yield the ways to name it as a volume of any of the collections, or of its own: "42 U.S.C."."""
        for name in self.collection or (name for names in collections for name in names):
            yield from (f"{self.number} {name}", f"{self.name} {name}")


@lru_cache(maxsize=1 << 16)
def volume_of(code: str) -> Volume | None:
    """Return the number of the volume that a code is, None for a code that is not a volume."""
    for table in tables().values():
        found = re.search(rf"\b{words_pattern(table.get('volume', ()))}\s+(\d+[A-Z]?)\b", code)
        if found:
            named = (names for names in table["collections"] if re.search(rf"\b{words_pattern(names)}", code))
            return Volume(found[0], found[1], tuple(next(named, ())))
    return None


def _volume_forms(codes: Iterable[str]) -> dict[str, list[str]]:
    """Return the ways to name each code that is a volume. One that does not say of which collection is of any that has
    no other volume of that number."""
    volumes = {code: volume for code in codes if (volume := volume_of(code))}
    collections = [names for table in tables().values() for names in table.get("collections", ())]
    taken = {form for volume in volumes.values() if volume.collection for form in volume.forms(())}
    return {
        code: [volume.name, *(form for form in volume.forms(collections) if volume.collection or form not in taken)]
        for code, volume in volumes.items()
    }


def _short(code: str) -> str:
    """Return a title without what is in brackets, without numbers and dates."""
    return _NUMBER_OR_DATE.sub(" ", _BRACKET.sub("", code))


def _plain_words(text: str) -> tuple[str, ...]:
    return tuple(word.plain for word in _words(text))


def _words(text: str) -> Iterator[_Word]:
    """Yield the words of a text without the small ones; each Chinese character is one."""
    for match in _TOKEN.finditer(text):
        plain = plain_title(match[0])
        if plain and plain not in small_words():
            yield _Word(plain, match[0], *match.span())


@lru_cache(maxsize=1 << 16)
def plain_title(title: str) -> str:
    """Return a title without case, accents and punctuation."""
    return " ".join(re.findall(r"[^\W_]+", plain_word(with_carets(title))))


@cache
def small_words() -> frozenset[str]:
    """Return the words of all languages that a title may be cited without, in plain letters."""
    return frozenset(plain_title(word) for word in all_words("small", "number_sign")) - {""}


@cache
def _goes_on() -> re.Pattern[str]:
    """Return a pattern of words that follow a mention and make another name of it: "the Dog Act 1906", "the Dog Act
    Regulations"."""
    last = "|".join(word for table in tables().values() for word in table.get("title_last", ()))
    return re.compile(rf"(?:(?:of|van|vom|von|de) )?(?:1[6-9]|20)\d\d\b|(?:{last})\b")


def _endings_of(code: str) -> re.Pattern[str] | None:
    """Return the endings of the language whose declined nouns are in a title."""
    for table in tables().values():
        if "endings" in table and re.search(rf"\b{words_pattern(table['declined'])}", code):
            plain = sorted(map(plain_word, table["endings"]), key=len, reverse=True)
            return re.compile(rf"(?<=[^\W_]{{{_SHORTEST_STEM}}})(?:{'|'.join(plain)})$")
    return None


@lru_cache(maxsize=1 << 16)
def _stem(word: str, endings: re.Pattern[str] | None) -> str:
    return word if endings is None else endings.sub("", word)
