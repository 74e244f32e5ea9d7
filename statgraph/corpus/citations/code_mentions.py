"""Which codes of a corpus a question mentions, anywhere in it and as people shorten them: "CSS", "C. trav.", 民法典."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from statgraph.corpus.citations.cited_texts import GOES_ON, plain_title, title_stem

SMALL_WORDS = frozenset(
    re.findall(
        r"\w+",
        "a an and at by for in of on or the to under de des du d la le les l et ou sur aux au "
        "der die das dem den des und oder für fur zum zur vom von het een en van voor op uit del della di e y",
    )
)
_CHINESE = "㐀-鿿"
_TOKEN = re.compile(rf"[{_CHINESE}]|[^\W_{_CHINESE}]+\.?")
_JOINED_ON = re.compile(r"\s(?:et|and|und|en)\s", re.IGNORECASE)
_LAST_YEAR = re.compile(r",?\s(?:of |von |vom |van )?(?:1[6-9]|20)\d\d$")
_STATE = "中华人民共和国"


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a question, in characters, where it mentions codes: more than one where they share the short form."""

    start: int
    end: int
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Word:
    plain: str
    stem: str
    raw: str
    start: int
    end: int


class CodeMentions:
    """Finds the codes that a question mentions.

    A code is mentioned by its title, with or without small words, its year and 中华人民共和国; by what stands before or
    within brackets in it; by the part before "and" ("Code rural" for "Code rural et de la pêche maritime"); by its
    initials ("CSS"); by its words cut with a full stop ("C. trav.").

    Args:
        codes: the titles of the corpus' codes.
    """

    def __init__(self, codes: Iterable[str]):
        self._initials: dict[str, list[str]] = {}
        forms: dict[tuple[str, ...], list[str]] = {}
        for code in codes:
            for form in _forms(code):
                forms.setdefault(form, []).append(code)
            initials = "".join(word.plain[0] for word in _words(code))
            if len(initials) > 1 and initials.isalpha() and initials.isascii():
                self._initials.setdefault(initials.upper(), []).append(code)
        # By the first letter, since a word may be cut down to it.
        self._forms: dict[str, list[tuple[tuple[str, ...], tuple[str, ...]]]] = {}
        for form, named in sorted(forms.items(), key=lambda item: -len(item[0])):
            self._forms.setdefault(form[0][0], []).append((form, tuple(named)))

    def find(self, question: str) -> list[Mention]:
        """Return the mentions in a question, in its order; of several that begin at one word, the longest."""
        words = _words(question)
        mentions: list[Mention] = []
        at = 0
        while at < len(words):
            size, codes = self._mentioned(words, at)
            if codes and not GOES_ON.match(question[words[at + size - 1].end :].lstrip(" ,")):
                mentions.append(Mention(words[at].start, words[at + size - 1].end, codes))
            at += max(size, 1)
        return mentions

    def _mentioned(self, words: list[_Word], at: int) -> tuple[int, tuple[str, ...]]:
        """Return how many words name a code from a place on, and which codes."""
        for form, codes in self._forms.get(words[at].plain[0], ()):
            if at + len(form) <= len(words) and all(map(_says, words[at : at + len(form)], form)):
                return len(form), codes
        raw = words[at].raw.replace(".", "")
        if raw.isupper() and raw in self._initials:
            return 1, tuple(self._initials[raw])
        return 0, ()


def _says(word: _Word, of_title: str) -> bool:
    """Return whether a word is one of a title, declined or cut with a full stop."""
    if of_title in (word.plain, word.stem):
        return True
    return word.raw.endswith(".") and of_title.startswith(word.plain)


def _forms(code: str) -> set[tuple[str, ...]]:
    """Return the ways in which a code is named, each as its words."""
    named = {code, _LAST_YEAR.sub("", code), re.sub(r"\s*\([^()]*\)", "", code), code.removeprefix(_STATE)}
    named.update(re.findall(r"\(([^()]{2,})\)", code))
    forms = {tuple(word.stem for word in _words(name)) for name in named}
    first = tuple(word.stem for word in _words(_JOINED_ON.split(code)[0]))
    if len(first) > 1:
        forms.add(first)
    return forms - {()}


def _words(text: str) -> list[_Word]:
    """Return the words of a text without the small ones; each Chinese character is one."""
    found = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFC", text)):
        plain = plain_title(match[0])
        if plain and plain not in SMALL_WORDS:
            found.append(_Word(plain, title_stem(plain), match[0], *match.span()))
    return found
