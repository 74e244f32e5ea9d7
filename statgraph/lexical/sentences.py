"""The sentences of a text."""

from __future__ import annotations

import re

MAX_SENTENCE = 400
# The end of a sentence or of a clause of a list, with the spaces after it: before a capital or the like, before a small
# letter after "?", "!" or a long word (people write so), and in Chinese without a space.
_CUT = re.compile(
    r"(?<=[.;:!?…])\s+(?=[A-ZÀ-ÖØ-Þ«\"(\d-])|(?<=[!?])\s+|(?<=[^\W\d]{4}\.)\s+(?=[a-zà-öø-ÿ])"
    r"|(?<=[。；！？])(?![”’」』）])\s*(?=.)|\s*\n\s*"
)
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


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the sentences and list items of a text, none longer than 400 characters."""
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
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + 1, start + MAX_SENTENCE)
        cut = cut if cut > start else start + MAX_SENTENCE
        spans.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    return [*spans, (start, end)] if end > start else spans
