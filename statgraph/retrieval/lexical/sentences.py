"""The sentences of a text."""

from __future__ import annotations

import re
import textwrap
from itertools import groupby, pairwise

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
_DATE = re.compile(r"\d{1,2}[/.]\d{1,2}[/.]\d{4}")  # in "(Ek: 30/7/2024-7527/5 md.)" the colon ends nothing
_NUMBER = re.compile(r"[A-Z]?[.\s]*\d|[IVX]+\b")
_RUN_ON = 300  # characters from which what a question has between full stops is cut once more
_CLAUSE = 100  # characters of its parts
_CLAUSE_END = re.compile(r"(?<=[.,;:–—…])\s+|(?<=[，、；：])\s*|\s+(?=[-–—]\s)|(?<=[^\W\d]{3}[.!?,])(?=[^\W\d])")
_WRAPPED = range(40, 101)  # characters of the longest line that a mail program has wrapped
_MARKS_OF_A_LINE = re.compile(r"^(?:> ?)+|\s+$")  # those that quote it, and spaces at its end
_FIRST_WORD = re.compile(r"[⺀-\ua4cf]|\S*")  # in Chinese and Japanese a character
_LONGEST_SHORTENED = 8  # characters that show one: its own, the full stop, and the characters before it


def sentence_spans(text: str, longest: int = MAX_SENTENCE) -> list[tuple[int, int]]:
    """Return (start, end) of the sentences and list items of a text, none longer than so many characters."""
    spans, start = [], 0
    for cut in _CUT.finditer(text):
        if _goes_on(text, start, cut):
            continue
        spans += _short(text, start, cut.start(), longest)
        start = cut.end()
    return [*spans, *_short(text, start, len(text.rstrip()), longest)]


def _goes_on(text: str, start: int, cut: re.Match[str]) -> bool:
    """Return whether the sentence that begins at `start` goes on after a cut: its full stop only shortens a word, or
    its colon stands before a date."""
    if "\n" in cut.group():
        return False
    if text[cut.start() - 1] == ":" and _DATE.match(text, cut.end()):
        return True
    before = text[max(start, cut.start() - _LONGEST_SHORTENED) : cut.start()]
    if _SHORTENED.search(before):
        return True
    return bool(_SHORTENED_BEFORE_NUMBER.search(before) and _NUMBER.match(text, cut.end()))


def _short(text: str, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    """Return a stretch of a text in parts of at most so many characters, cut at spaces where there are any."""
    spans = []
    while end - start > longest:
        cut = text.rfind(" ", start + 1, start + longest)
        cut = cut if cut > start else start + longest
        spans.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    return [*spans, (start, end)] if end > start else spans


def question_sentences(text: str) -> list[str]:
    """Return the sentences of a question as people type it.

    Lines that a mail program wrapped are joined. What is longer than 300 characters has commas for full stops, or no
    marks at all: it comes in clauses of up to 100 characters, or in parts of as many, half of each the next one's too.
    """
    text, sentences = _unwrapped(text), []
    for start, end in sentence_spans(text, longest=len(text)):
        if end - start <= _RUN_ON:
            sentences.append(text[start:end])
            continue
        parts = [""]
        for clause in filter(None, _CLAUSE_END.split(text[start:end])):
            if len(clause) > _RUN_ON:
                parts += map(" ".join, pairwise(textwrap.wrap(clause, _CLAUSE // 2, break_on_hyphens=False)))
            elif len(parts[-1]) + len(clause) < _CLAUSE:
                parts[-1] = f"{parts[-1]} {clause}".strip()
            else:
                parts.append(clause)
        sentences += filter(None, parts)
    return sentences


def _unwrapped(text: str) -> str:
    """Return a text with spaces for ends of lines, in paragraphs where most are where the next word did not fit."""
    lines = [_MARKS_OF_A_LINE.sub("", line) for line in text.splitlines()]
    width = max((len(line) for line in lines if len(line) in _WRAPPED), default=0)  # not of a long URL
    joined = ""
    for _, (first, *others) in groupby(lines, key=bool):
        rooms = [width - len(line) for line in (first, *others)]
        full = [0 <= room <= len(_first_word(line)) for room, line in zip(rooms, others, strict=False)]
        space = " " if 4 * sum(full) >= 3 * len(full) else "\n"
        joined += first + "".join((space if at else "\n") + line for at, line in zip(full, others, strict=True)) + "\n"
    return joined


def _first_word(line: str) -> str:
    word = _FIRST_WORD.match(line)
    return "" if word is None else word[0]
