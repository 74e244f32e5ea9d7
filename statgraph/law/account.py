"""Where each word of a document went: into the corpus, out of it by a rule, or nowhere.

The words of the source come from a plain walk over the file that knows nothing of articles, what was kept and left out
from its reader. So a reader that drops a paragraph cannot also hide that it does.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

KEPT = ""  # the rule of what is in the corpus
_AROUND = " \t\n\u00a0.,:;!?()[]{}<>|\"'`´‘’“”„«»*_#~=/\\…–—-‑•·§|+^"
_INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_BEGINNING = 200  # characters that show the script of a text
_NEAR = 2_000  # characters ahead in which the next words are looked for first
_SPREAD = 200  # characters that may stand between the words of one piece
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

    def keep(self, *texts: str) -> None:
        """Add what is in the corpus: the number, rubric and text of an article, a heading."""
        self._add(KEPT, texts)

    def leave_out(self, rule: str, *texts: str) -> None:
        """Add what is left out by a rule, such as "notes"."""
        self._add(rule, texts)

    def _add(self, rule: str, texts: Iterable[str]) -> None:
        for text in texts:
            if squeezed := "".join(text.translate(_INVISIBLE).split()):
                self._parts.append(squeezed)
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
    """Gives every piece of a source a place of its own in a text without blanks."""

    def __init__(self, parts: Iterable[str]):
        self._text = "".join(parts)
        self._taken = bytearray(len(self._text))
        self._next, self._searches = 0, 0

    def of(self, pieces: Iterable[str]) -> list[_Found]:
        """Return for each piece where it is as a whole or else, in what is left then, each of its words."""
        found: list[_Found] = []
        unfound: list[tuple[int, str, int]] = []  # a piece, and where the one before it ends
        for text in pieces:
            text = text.translate(_INVISIBLE)
            whole = "".join(text.split()).strip(_AROUND)
            where = self._find(whole) if whole else -1
            found.append([(text, word_count(text), where)] if where >= 0 else [])
            if where >= 0:
                self._take(where, len(whole))
            elif whole:
                unfound.append((len(found) - 1, text, self._next))
        for number, text, before in unfound:
            found[number] = self._words(text, before)
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

    def _words(self, text: str, before: int) -> _Found:
        """Return where each word of a piece is, all of them close to the longest one; none is found if few are."""
        words = [word for word in (word.strip(_AROUND) for word in text.split()) if word]
        longest = max(words, key=len)
        self._next = before
        anchor = self._find(longest)
        spread = sum(map(len, words)) + _SPREAD
        start, end = max(0, anchor - spread), anchor + spread
        found: _Found = []
        for word in words:
            where = self._free(word, start, end) if anchor >= 0 else -1
            found.append((word, word_count(word), where))
            if where >= 0:
                self._taken[where : where + len(word)] = b"\1" * len(word)
        if sum(len(word) for word, _, where in found if where >= 0) >= _MOST_FOUND * sum(map(len, words)):
            return found
        for word, _, where in found:
            if where >= 0:
                self._taken[where : where + len(word)] = bytes(len(word))
        return [(word, count, -1) for word, count, _ in found]

    def _take(self, where: int, length: int) -> None:
        self._taken[where : where + length] = b"\1" * length
        self._next = where + length


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
