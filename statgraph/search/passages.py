"""The passage of an article that fits a question best, by the words that they share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from statgraph.lexical.bm25 import TermStatistics

MAX_PASSAGE = 400
# The end of a sentence or of a clause of a list, with the spaces after it.
_CUT = re.compile(r"(?<=[.;:!?…])\s+(?=[A-ZÀ-ÖØ-Þ«\"(\d-])|\s*\n\s*")
# No ends: an ordinal or the number of an item ("1. Juli"), a letter ("L. 12", "z. B."), a title, a short form.
_SHORTENED = re.compile(
    r"(?:(?<![\w.,/-])\d{1,2}|\b(?:[A-Za-z]|Mrs?|Ms|MM|Drs?|Prof|Mag|Ing|St"
    r"|(?i:cf|vgl|vg|bzw|resp|ggf|evtl|inkl|insb|sog|bijv|incl|viz|ca|approx)))\.$"
)
# No ends before a number only: "no", "art", "lid" and "sept" are words too.
_SHORTENED_BEFORE_NUMBER = re.compile(
    r"\b(?i:arts?|abs|nrn?|nos?|paras?|pars?|ss|subss?|secs?|regs?|sched|chap|ch|cap|pp|vol|lit|ziff|buchst|bst|kap|rn"
    r"|anm|anh|anl|al|alin|lid|sub|blz|jan|janv|feb|febr|févr|fév|mar|mär|mrt|apr|avr|jun|jul|juil|aug|sept?|okt|oct|nov"
    r"|dec|déc|dez)\.$"
)
_NUMBER = re.compile(r"[A-Z]?[.\s]*\d|[IVX]+\b")
_LONGEST_SHORTENED = 8  # characters that show one: its own, the full stop, and the characters before it


class PassageFinder:
    """Finds passages by the words that they share with a question, rare words first.

    Spans were tried by their vectors too, those of the run's query encoder and of its article encoder: what that gave,
    and what it takes, is in docs/explaining.md. `background` gives texts that show which words are rare; it is called
    once, at the first question.
    """

    def __init__(self, language: str, background: Callable[[], Sequence[str]]):
        self._language = language
        self._background = background

    def passages(self, question: str, texts: Sequence[str]) -> list[tuple[int, int] | None]:
        """Return (start, end) of the best passage of each text, None where it shares no word with the question.

        A word counts by how few of the background's texts hold it. Offsets count characters
        (Unicode code points); the first of equals is taken.
        """
        weights = {term: self._statistics.rarity(term) for term in self._statistics.terms(question)}
        return [self._best(weights, text) for text in texts]

    def _best(self, weights: Mapping[str, float], text: str) -> tuple[int, int] | None:
        best, most = None, 0.0
        for start, end in passage_spans(text):
            weight = math.fsum(weights[term] for term in weights.keys() & set(self._statistics.terms(text[start:end])))
            if weight > most:
                best, most = (start, end), weight
        return best

    @cached_property
    def _statistics(self) -> TermStatistics:
        return TermStatistics(self._background(), language=self._language)


def passage_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the passages of a text: sentences and list items, none longer than 400 characters."""
    spans, start = [], 0
    for cut in _CUT.finditer(text):
        if _goes_on(text, start, cut):
            continue
        spans += _short(text, start, cut.start())
        start = cut.end()
    return [*spans, *_short(text, start, len(text.rstrip()))]


def _goes_on(text: str, start: int, cut: re.Match[str]) -> bool:
    """Return whether the sentence that begins at `start` goes on after a cut: its full stop only shortens a word."""
    if "\n" in cut.group():
        return False
    before = text[max(start, cut.start() - _LONGEST_SHORTENED) : cut.start()]
    if _SHORTENED.search(before):
        return True
    return bool(_SHORTENED_BEFORE_NUMBER.search(before) and _NUMBER.match(text, cut.end()))


def _short(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return a stretch of a text in parts of at most 400 characters, cut at spaces where there are any."""
    spans = []
    while end - start > MAX_PASSAGE:
        cut = text.rfind(" ", start + 1, start + MAX_PASSAGE)
        cut = cut if cut > start else start + MAX_PASSAGE
        spans.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    return [*spans, (start, end)] if end > start else spans
