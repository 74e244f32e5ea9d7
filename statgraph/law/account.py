"""Where each word of a document went: into the corpus, out of it by a rule, or nowhere.

The words of the source come from a plain walk over the file that knows nothing of articles, what was kept and left out
from its reader. So a reader that drops a paragraph cannot also hide that it does.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, product

KEPT = ""  # the rule of what is in the corpus
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_PACKED = 4096  # pieces that are stored as one string
_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_BEGINNING = 200  # characters that show the script of a text
_SHORT = 8  # letters of a piece that is looked for after the longer ones
_NEAR = 2_000  # letters ahead in which the next words are looked for first
_SPREAD = 200  # letters that may stand between the words of one piece
_MOST_FOUND = 0.5  # of the letters of a piece: with fewer in one place, it is not there
_MOST_SEARCHES = 500  # times the length of a document, through all of it; fewer for short pieces


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
        self._places: list[str] = []
        self._lines = array("q")
        self._packed: list[str] = []  # pieces of the source, many in one string
        self._unpacked: list[str] = []
        self._kept: list[str] = []
        self._left_out: list[str] = []
        self._rules: list[str] = []  # of what is left out

    def read(self, place: str, text: str, *, line: int = 0) -> None:
        """Add a piece of the source: a line, or the text between two tags.

        Args:
            line: of the file that `place` is, if it is one: takes less memory than a place that names both.
        """
        self._places.append(place)
        self._lines.append(line)
        self._unpacked.append(text)
        if len(self._unpacked) == _PACKED:
            self._pack()

    def _pack(self) -> None:
        self._packed.append("\0".join(text.replace("\0", " ") for text in self._unpacked))
        self._unpacked.clear()

    def _source(self) -> Iterator[str]:
        self._pack()
        for packed in self._packed if self._places else ():
            yield from packed.split("\0")

    def _place(self, number: int) -> str:
        return f"{self._places[number]}:{self._lines[number]}" if self._lines[number] else self._places[number]

    def keep(self, *texts: str) -> None:
        """Add what is in the corpus: the number, rubric and text of an article, a heading."""
        self._kept += map(_letters, texts)

    def put(self, rule: str, text: str) -> None:
        """Add what is in the corpus (`KEPT`), or what a rule leaves out."""
        if rule == KEPT:
            self.keep(text)
        else:
            self.leave_out(rule, text)

    def leave_out(self, rule: str, *texts: str) -> None:
        """Add what is left out by a rule, such as "notes"."""
        self._left_out += map(_letters, texts)
        self._rules += [rule] * len(texts)

    def balance(self) -> Balance:
        """Return how many words of the source went where.

        Every piece of the source claims its place in what was kept or left out, so a text that stands twice in the
        source and once in the corpus is lost once.
        """
        kept, left_out = _Claims(self._kept), _Claims(self._left_out)
        starts = [0, *accumulate(map(len, self._left_out))]
        balance = Balance()
        first: dict[str, int] = {}  # the number of the first piece of each rule
        for number, text, found in _claimed(self._source(), (kept, left_out)):
            lost: list[tuple[str, int]] = []
            for words, count, claims, where in found:
                balance.words += count
                if claims is kept:
                    balance.kept += count
                elif claims is None:
                    lost.append((words, count))
                else:
                    rule = self._rules[bisect_right(starts, where) - 1]
                    balance.left_out[rule] += count
                    if number < first.setdefault(rule, number + 1):
                        first[rule] = number
                        balance.first[rule] = self._place(number)
                    piece = (self._place(number), rule, text)
                    if not balance.pieces or balance.pieces[-1] != piece:
                        balance.pieces.append(piece)
            if lost:
                said = " ".join(words for words, _ in lost)
                balance.lost.append(LostText(self._place(number), said, sum(count for _, count in lost)))
        return balance


class _Claims:
    """The letters and digits of a text, of which every piece of a source claims a place of its own."""

    def __init__(self, parts: Iterable[str]):
        self.text = "".join(parts)
        self.taken = bytearray(len(self.text))
        self.end = 0  # of what was claimed last
        self._searched = -100_000_000  # characters in searches through all of the text, of which so many are free
        self._claimed: dict[str, int] = {}  # up to where all places of a text are taken, of those searched for

    def near(self, text: str) -> int:
        """Return where a text is that no piece has claimed, behind what was claimed last; -1 for nowhere."""
        where = self.text.find(text, self.end, self.end + _NEAR + len(text))
        return self.free(text, where, self.end + _NEAR) if where >= 0 and self.taken[where] else where

    def anywhere(self, text: str) -> int:
        """Return where a text is that no piece has claimed, close to what was claimed last or else anywhere."""
        is_short = len(text) < _SHORT
        window = 2 * _NEAR if is_short else 10 * _NEAR
        where = self.free(text, max(0, self.end - window), self.end + window)
        if where < 0 and self._searched < _MOST_SEARCHES * len(self.text) // (100 if is_short else 1):
            start = self._claimed.get(text, 0)
            where = self.free(text, start, len(self.text))
            self._claimed[text] = where if where >= 0 else len(self.text)
            self._searched += self._claimed[text] - start
        return where

    def free(self, text: str, start: int, end: int) -> int:
        """Return where a text is that no piece has claimed, in a part of it all; -1 for nowhere."""
        where = self.text.find(text, start, end)
        while where >= 0 and self.taken[where]:
            following = self.taken.find(0, where)
            where = self.text.find(text, following, end) if following >= 0 else -1
        return where

    def take(self, where: int, length: int) -> None:
        """Claim a place."""
        self.taken[where : where + length] = b"\1" * length
        self.end = where + length

    def words(self, words: Sequence[str], anchor: int) -> list[int]:
        """Claim each of some words close to a place, and return where they are; [] if few are there."""
        spread = sum(map(len, words)) + _SPREAD
        found = [-1] * len(words)
        for i in sorted(range(len(words)), key=lambda i: -len(words[i])):  # a short word is in many a longer one
            found[i] = where = self.free(words[i], max(0, anchor - spread), anchor + spread)
            if where >= 0:
                self.taken[where : where + len(words[i])] = b"\1" * len(words[i])
        placed = list(zip(words, found, strict=True))
        if sum(len(word) for word, where in placed if where >= 0) >= _MOST_FOUND * sum(map(len, words)):
            return found
        for word, where in placed:
            if where >= 0:
                self.taken[where : where + len(word)] = bytes(len(word))
        return []


# Words, how many, where they are and in what, which is None for nowhere.
_Found = tuple[tuple[str, int, _Claims | None, int], ...]


def _claimed(source: Iterable[str], both: tuple[_Claims, _Claims]) -> Iterator[tuple[int, str, _Found]]:
    """Yield each piece of a source, by its number, with where it is as a whole or else where each of its words is.

    Short pieces and those in parts come last: they are looked for in what the others leave.
    """
    later: list[tuple[int, str, int, int]] = []  # with where the pieces before it end
    first, second = both
    for number, text in enumerate(source):
        whole = _letters(text)
        if len(whole) >= _SHORT:
            where = first.near(whole)
            if where < 0:
                first, second, where = second, first, second.near(whole)
            if where < 0:
                first, where = _anywhere(whole, both)
                second = both[first is both[0]]
            if where >= 0:
                first.take(where, len(whole))
                yield number, text, ((text, word_count(text), first, where),)
                continue
        if whole:
            later.append((number, text, both[0].end, both[1].end))
    for number, text, both[0].end, both[1].end in later:
        yield number, text, _of_words(text, both)


def _anywhere(text: str, both: Sequence[_Claims]) -> tuple[_Claims, int]:
    for claims in both:
        if (where := claims.anywhere(text)) >= 0:
            return claims, where
    return both[0], -1


def _of_words(text: str, both: Sequence[_Claims]) -> _Found:
    """Return where a short piece is, or each word of a long one, all of them close to the longest or the next one."""
    whole = _letters(text)
    if len(whole) < _SHORT:
        near = next(((claims, at) for claims in both if (at := claims.near(whole)) >= 0), None)
        claims, where = near or _anywhere(whole, both)
        if where >= 0:
            claims.take(where, len(whole))
            return ((text, word_count(text), claims, where),)
    words = _WORD.findall(text)
    letters = [_letters(word) for word in words]
    longest = sorted(letters, key=len)[:-3:-1]
    for claims, word in product(both, longest):
        anchor = claims.near(word)
        anchor = claims.anywhere(word) if anchor < 0 else anchor
        if anchor >= 0 and (places := claims.words(letters, anchor)):
            other = both[claims is both[0]]
            return tuple(_placed(*found, claims, other) for found in zip(words, letters, places, strict=True))
    return ((text, word_count(text), None, -1),)


def _placed(
    word: str, letters: str, where: int, claims: _Claims, other: _Claims
) -> tuple[str, int, _Claims | None, int]:
    """Return where a word is, or in the other text where it is not with the words around it."""
    count = word_count(word)
    if where >= 0:
        return word, count, claims, where
    where = other.near(letters)
    if where < 0:
        return word, count, None, -1
    other.take(where, len(letters))
    return word, count, other, where


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
