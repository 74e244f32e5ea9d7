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
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

KEPT = ""  # the rule of what is in the corpus
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_NO_LETTERS = bytes(code for code in range(1, 128) if not chr(code).isalnum())
_USUAL_SIGNS = "\u00a0\u00ad’–—“”„«»…‘§•·‑"  # which `str.replace` removes faster than an expression
_NO_WORD = re.compile(r"[^\w\0]")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_BEGINNING = 200  # characters that show the script of a text
_WORD = re.compile(r"[^\W_]+")
_AT_ONCE = 4096  # pieces of which the letters are taken together
_RUN = 64  # pieces that are looked for together at first
_SHORT = 8  # letters of a piece that is looked for after the longer ones
_NEAR = 2_000  # letters ahead in which the next words are looked for first
_SPREAD = 200  # letters that may stand between the words of one piece
_MOST_FOUND = 0.6  # of the letters of a piece: with fewer in one place, it is not there
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
        self._pieces: list[str] = []  # of the source
        self._parts: list[str] = []
        self._rules: list[str] = []

    def read(self, place: str, text: str, *, line: int = 0) -> None:
        """Add a piece of the source: a line, or the text between two tags.

        Args:
            line: in the file named by `place`; takes less memory than a place that holds both.
        """
        self._places.append(place)
        self._lines.append(line)
        self._pieces.append(text.replace("\0", " "))

    def _place(self, number: int) -> str:
        return f"{self._places[number]}:{self._lines[number]}" if self._lines[number] else self._places[number]

    def keep(self, *texts: str) -> None:
        """Add what is in the corpus: the number, rubric and text of an article, a heading."""
        self.leave_out(KEPT, *texts)

    def leave_out(self, rule: str, *texts: str) -> None:
        """Add what is left out by a rule, such as "notes"; `KEPT` stands for what is in the corpus."""
        self._parts += texts
        self._rules += [rule] * len(texts)

    def balance(self, named: Collection[str] | None = None) -> Balance:
        """Return how many words of the source went where, with each piece that one of the named rules leaves out; None
        for all rules.

        Every piece of the source claims its place in what was kept or left out, so a text that stands twice in the
        source and once in the corpus is lost once.
        """
        claims = _Claims(_letters_of_all(self._parts), self._rules)
        balance = Balance()
        first: dict[str, int] = {}  # the number of the first piece of each rule
        for number, run, found in claims.of(self._pieces):
            lost: list[tuple[str, int]] = []
            for words, count, where in found:
                balance.words += count
                if where < 0:
                    lost.append((words, count))
                    continue
                rule = claims.rule_of(where)
                if rule == KEPT:
                    balance.kept += count
                    continue
                balance.left_out[rule] += count
                if number < first.setdefault(rule, number + 1):
                    first[rule] = number
                    balance.first[rule] = self._place(number)
                if named is not None and rule not in named:
                    continue
                pieces = [(self._place(at), rule, text) for at, text in enumerate(run, number) if _WORD.search(text)]
                if balance.pieces[-1:] != pieces:
                    balance.pieces += pieces
            if lost:
                said = " ".join(words for words, _ in lost)
                balance.lost.append(LostText(self._place(number), said, sum(count for _, count in lost)))
        return balance


_Found = tuple[tuple[str, int, int], ...]  # words, how many, and where they are, -1 for nowhere


class _Claims:
    """The letters and digits of a text, of which every piece of a source claims a place of its own."""

    def __init__(self, parts: Sequence[str], rules: Sequence[str]):
        self._text = "".join(parts)
        self._starts, self._rules = [0, *accumulate(map(len, parts))], rules
        self._taken = bytearray(len(self._text))
        # Of what was claimed last, and of that before the last jump: a note, and the text around it.
        self._end = self._other = 0
        self._searched = -100_000_000  # characters in searches through all of the text, of which so many are free
        self._claimed: dict[str, int] = {}  # up to where all places of a text are taken, of those searched for

    def of(self, source: Sequence[str]) -> Iterator[tuple[int, Sequence[str], _Found]]:
        """Yield each piece of a source, or run of pieces, by its number, with where it is as a whole or else where each
        of its words is.

        Short pieces and those in parts come last: they are looked for in what the others leave.
        """
        later: list[tuple[int, str, int, int]] = []  # with where the pieces before it end
        number, length = 0, _RUN
        for first in range(0, len(source), _AT_ONCE):
            pieces = source[first : first + _AT_ONCE]
            start, letters_of = 0, _letters_of_all(pieces)
            while start < len(pieces):
                letters = "".join(letters_of[start : start + length])
                if length > 1 and not self._follows(letters):
                    length //= 4
                    continue
                run = pieces[start : start + length]
                text = " ".join(run)
                where = self._end if length > 1 else self._find(letters) if len(letters) >= _SHORT else -1
                if where >= 0:
                    self._take(where, len(letters))
                    yield number, run, ((text, word_count(text), where),)
                elif letters:
                    later.append((number, text, self._end, self._other))
                start, number = start + len(run), number + len(run)
                length = min(4 * length, _RUN)
        for number, text, self._end, self._other in later:
            letters = _letters(text)
            where = self._find(letters) if len(letters) < _SHORT else -1
            if where >= 0:
                self._take(where, len(letters))
                yield number, [text], ((text, word_count(text), where),)
            else:
                yield number, [text], self._words(text)

    def rule_of(self, where: int) -> str:
        """Return the rule of what is at a place."""
        return self._rules[bisect_right(self._starts, where) - 1]

    def _follows(self, text: str) -> bool:
        """Return whether a text is next to what was claimed last, and of one rule."""
        end = self._end + len(text)
        if not text or not self._text.startswith(text, self._end) or self._taken.find(1, self._end, end) >= 0:
            return False
        rules = self._rules[bisect_right(self._starts, self._end) - 1 : bisect_right(self._starts, end - 1)]
        return rules.count(rules[0]) == len(rules)

    def _find(self, text: str) -> int:
        """Return where a text is that no piece has claimed: behind what was claimed last, or before that; else close to
        it, or else anywhere; -1 for nowhere."""
        where = self._near(text)
        if where < 0:
            self._end, self._other = self._other, self._end
            where = self._near(text)
        if where >= 0:
            return where
        is_short = len(text) < _SHORT
        window = 2 * _NEAR if is_short else 10 * _NEAR
        where = self._free(text, max(0, self._end - window), self._end + window)
        if where < 0 and self._searched < _MOST_SEARCHES * len(self._text) // (100 if is_short else 1):
            start = self._claimed.get(text, 0)
            where = self._free(text, start, len(self._text))
            self._claimed[text] = where if where >= 0 else len(self._text)
            self._searched += self._claimed[text] - start
        if where >= 0:
            self._other = self._end
        return where

    def _near(self, text: str) -> int:
        """Return where a text is behind what was claimed last; a short one may also be in front of it."""
        start = max(0, self._end - _SPREAD) if len(text) < _SHORT else self._end
        return self._free(text, start, self._end + _NEAR + len(text))

    def _free(self, text: str, start: int, end: int) -> int:
        """Return where a text is that no piece has claimed, in a part of it all; -1 for nowhere."""
        where = self._text.find(text, start, end)
        while where >= 0 and self._taken[where]:
            following = self._taken.find(0, where)
            where = self._text.find(text, following, end) if following >= 0 else -1
        return where

    def _words(self, text: str) -> _Found:
        """Return where each word of a piece is, all of them close to the longest one; none is found if few are."""
        words = _WORD.findall(text)
        letters = list(map(_letters, words))
        places = [-1] * len(words)
        if (anchor := self._find(max(letters, key=len))) >= 0:
            spread = sum(map(len, letters)) + _SPREAD
            for number in sorted(range(len(words)), key=lambda number: -len(letters[number])):
                where = places[number] = self._free(letters[number], max(0, anchor - spread), anchor + spread)
                if where >= 0:
                    self._taken[where : where + len(letters[number])] = b"\1" * len(letters[number])
        n_found = sum(len(word) for word, where in zip(letters, places, strict=True) if where >= 0)
        if n_found < _MOST_FOUND * sum(map(len, letters)):
            for word, where in zip(letters, places, strict=True):
                if where >= 0:
                    self._taken[where : where + len(word)] = bytes(len(word))
            places = [-1] * len(words)
        return tuple((word, word_count(word), where) for word, where in zip(words, places, strict=True))

    def _take(self, where: int, length: int) -> None:
        self._end = where + length
        self._taken[where : self._end] = b"\1" * length


def _letters_of_all(texts: Sequence[str]) -> list[str]:
    """Return the letters and digits of each text, in a fraction of the time that one after another takes."""
    found: list[str] = []
    for start in range(0, len(texts), _AT_ONCE):
        together = "\0".join(text.replace("\0", " ") for text in texts[start : start + _AT_ONCE])
        found += _letters(together).split("\0")
    return found


def _letters(text: str) -> str:
    """Return the letters and digits of a text, raised digits as plain ones, and the NUL between texts."""
    letters = text.encode(errors="replace").translate(None, _NO_LETTERS).decode()
    if letters.isascii():
        return letters
    letters = unicodedata.normalize("NFC", letters)
    for sign in _USUAL_SIGNS:
        letters = letters.replace(sign, "")
    if letters.isascii():
        return letters
    if not letters.replace("\0", "").isalnum():
        letters = _NO_WORD.sub("", letters)
    for sign, digit in _RAISED.items():
        letters = letters.replace(sign, digit)
    return letters


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
