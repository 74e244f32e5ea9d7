"""Where each word of a document went: into the corpus, out of it by a rule, or nowhere.

The words of the source come from a plain walk over the file that knows nothing of articles, what was kept and left out
from its reader. So a reader that drops a paragraph cannot also hide that it does.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

KEPT = ""  # the rule of what is in the corpus
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_BEGINNING = 200  # characters that show the script of a text
_WORD = re.compile(r"[^\W_]+")
_LONG = 12  # letters; shorter pieces take what the longer ones leave
_NEAR = 2_000  # letters ahead in which the next words are looked for first
_SPREAD = 200  # letters that may stand between the words of one piece
_MOST_FOUND = 0.6  # of the letters of a piece: with fewer in one place, it is not there
_MOST_SEARCHES = 5_000  # through a whole document


@dataclass(frozen=True, slots=True)
class LostText:
    """A piece of the source that is in no article, no heading and under no rule: its place, text and words."""

    place: str
    text: str
    words: int


@dataclass(slots=True)
class Balance:
    """The words of one source or several: all of them, those in the corpus, those left out, those lost.

    Attributes:
        words: of the source.
        kept: of them in articles and headings.
        left_out: of them by rule.
        first: the first place of each rule.
        pieces: what each rule left out, as (place, rule, text).
        lost: what is nowhere.
    """

    words: int = 0
    kept: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    pieces: list[tuple[str, str, str]] = field(default_factory=list)
    lost: list[LostText] = field(default_factory=list)

    @property
    def record(self) -> dict[str, object]:
        """Return the account as a manifest holds it."""
        return {"words": self.words, "kept": self.kept, "left_out": dict(self.left_out), "lost": self.words_lost}

    @property
    def words_lost(self) -> int:
        """Return how many words are lost."""
        return sum(one.words for one in self.lost)

    def add(self, other: Balance) -> None:
        """Add the words of another source."""
        self.words += other.words
        self.kept += other.kept
        self.left_out.update(other.left_out)
        self.first = {**other.first, **self.first}
        self.pieces += other.pieces
        self.lost += other.lost


class Account:
    """The account of one document.

    Say in any order, best in that of the document, what the source holds (`read`) and what became of it (`keep`,
    `leave_out`); then `balance` compares the two.
    """

    def __init__(self) -> None:
        self._source: list[tuple[str, str]] = []
        self._parts: list[str] = []
        self._rules: list[str] = []

    def read(self, place: str, text: str) -> None:
        """Add a piece of the source: a line, or the text between two tags."""
        self._source.append((place, text))

    def put(self, rule: str, text: str) -> None:
        """Add what is in the corpus (`KEPT`), or what a rule leaves out."""
        self._add(rule, (text,))

    def keep(self, *texts: str) -> None:
        """Add what is in the corpus: the number, rubric and text of an article, a heading."""
        self._add(KEPT, texts)

    def leave_out(self, rule: str, *texts: str) -> None:
        """Add what is left out by a rule, such as "notes"."""
        self._add(rule, texts)

    def _add(self, rule: str, texts: Iterable[str]) -> None:
        for text in texts:
            if letters := _letters(text):
                self._parts.append(letters)
                self._rules.append(rule)

    def balance(self) -> Balance:
        """Return how many words of the source went where.

        Every piece of the source claims its place in what was kept and left out, so a text that stands twice in the
        source and once in the corpus is lost once.
        """
        claims = _Claims(self._parts)
        starts = [0, *accumulate(map(len, self._parts))]
        balance = Balance()
        for (place, text), found in zip(self._source, claims.of([text for _, text in self._source]), strict=True):
            missing = [(words, count) for words, count, where in found if where < 0]
            for _, count, where in found:
                balance.words += count
                if where < 0:
                    continue
                rule = self._rules[bisect_right(starts, where) - 1]
                if rule == KEPT:
                    balance.kept += count
                else:
                    balance.left_out[rule] += count
                    balance.first.setdefault(rule, place)
                    if not balance.pieces or balance.pieces[-1] != (place, rule, text):
                        balance.pieces.append((place, rule, text))
            if missing:
                lost = LostText(place, " ".join(words for words, _ in missing), sum(count for _, count in missing))
                balance.lost.append(lost)
        return balance


_Found = list[tuple[str, int, int]]  # words, how many, and where they are, -1 for nowhere


class _Claims:
    """Gives every piece of a source a place of its own in the letters and digits of a text."""

    def __init__(self, parts: Iterable[str]):
        self._text = "".join(parts)
        self._taken = bytearray(len(self._text))
        self._next, self._searches = 0, 0

    def of(self, pieces: Sequence[str]) -> list[_Found]:
        """Return for each piece where it is: the long ones as a whole, then the short ones, then the words of those
        that are nowhere as a whole."""
        letters = [_letters(text) for text in pieces]
        found: list[_Found] = [[] for _ in pieces]
        before = [0] * len(pieces)  # where the last piece ends that was found before this one
        for is_long in (True, False):
            self._next = 0
            for i, whole in enumerate(letters):
                if found[i]:
                    self._next = found[i][0][2] + len(whole)
                elif whole and (len(whole) >= _LONG) == is_long and (where := self._find(whole)) >= 0:
                    self._take(where, len(whole))
                    found[i] = [(pieces[i], word_count(pieces[i]), where)]
                before[i] = self._next
        for i, whole in enumerate(letters):
            if whole and not found[i]:
                found[i] = self._words(_WORD.findall(pieces[i]), before[i])
        return found

    def _find(self, text: str) -> int:
        """Return where a text is that no piece has claimed: near the last one, or else anywhere; -1 for nowhere."""
        where = self._text.find(text, self._next, self._next + _NEAR + len(text))
        if where >= 0 and not self._taken[where]:
            return where
        where = self._free(text, max(0, self._next - 10 * _NEAR), self._next + 10 * _NEAR)
        if where < 0 and self._searches < _MOST_SEARCHES:
            self._searches += 1
            where = self._free(text, 0, len(self._text))
        return where

    def _free(self, text: str, start: int, end: int) -> int:
        where = self._text.find(text, start, end)
        while where >= 0 and self._taken[where]:
            where = self._text.find(text, where + 1, end)
        return where

    def _words(self, words: Sequence[str], before: int) -> _Found:
        """Return where each word of a piece is, all of them close to the longest one; none is found if few are."""
        letters = [_letters(word) for word in words]
        self._next = before
        anchor = self._find(max(letters, key=len))
        spread = sum(map(len, letters)) + _SPREAD
        places = []
        for word in letters:
            where = self._free(word, max(0, anchor - spread), anchor + spread) if anchor >= 0 else -1
            places.append(where)
            if where >= 0:
                self._take(where, len(word))
        n_found = sum(len(word) for word, where in zip(letters, places, strict=True) if where >= 0)
        if n_found < _MOST_FOUND * sum(map(len, letters)):
            for word, where in zip(letters, places, strict=True):
                if where >= 0:
                    self._taken[where : where + len(word)] = bytes(len(word))
            places = [-1] * len(words)
        return [(word, word_count(word), where) for word, where in zip(words, places, strict=True)]

    def _take(self, where: int, length: int) -> None:
        self._taken[where : where + length] = b"\1" * length
        self._next = where + length


class _LettersAlone(dict[int, str | None]):
    """A table for `str.translate` that leaves letters and digits, raised digits as plain ones."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        self[code] = _RAISED.get(character, character) if character.isalnum() else None
        return self[code]


_TABLE = _LettersAlone()


def _letters(text: str) -> str:
    return text.translate(_TABLE) if text.isascii() else unicodedata.normalize("NFC", text).translate(_TABLE)


def word_count(text: str) -> int:
    """Return the words of a text; in a script without blanks each sign is one."""
    return len(_UNSPACED.findall(text)) if is_unspaced(text) else len(text.split())


def is_unspaced(text: str) -> bool:
    """Return whether a text begins in a script without blanks."""
    return not text.isascii() and _UNSPACED.search(text, 0, _BEGINNING) is not None


def words_of(balance: Balance) -> Iterator[str]:
    """Yield the parts of a sentence on what became of the words: kept, left out by each rule, lost and where."""
    if not balance.words:
        return
    yield f"{_share(balance.kept, balance.words)} of {balance.words:,} words are in articles and headings"
    for rule, count in balance.left_out.most_common():
        yield f"{_share(count, balance.words)} left out: {rule} (first: {balance.first[rule]})"
    if balance.lost:
        places = list(dict.fromkeys(one.place for one in sorted(balance.lost, key=lambda one: -one.words)))
        more = ", ..." * (len(places) > 3)
        yield f"{_share(balance.words_lost, balance.words)} lost: {', '.join(places[:3])}{more}"


def _share(count: int, total: int) -> str:
    """Return a share in percent that says 100 or 0 only of all or none."""
    share = 100 * count / total
    if 0 < share < 0.1:
        return "under 0.1 %"
    return f"{min(share, 99.9) if count < total else 100:.1f} %"
