"""The passage of an article that fits a question best, and the part of a long text around it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from statgraph.lexical.analysis import Analyser, analyser

MAX_PASSAGE = 400
# The end of a sentence or of a clause of a list, with the spaces after it; an abbreviation such as "L. 12" is none.
_CUT = re.compile(r"(?<=[.;:!?…])\s+(?=[A-ZÀ-ÖØ-Þ«\"(\d-])|\s*\n\s*")
_ABBREVIATED = re.compile(r"\b(?:[A-Z]|[Aa]rt|[Nn]o|[Cc]f|al|[Pp]ar)\.$")


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, and where the best passage stands in that part; no passage where nothing is shared."""

    text: str
    passage: tuple[int, int] | None


class PassageFinder:
    """Finds passages by the words that they share with a question, rare words first.

    Args:
        language: the ISO 639 code that picks the stemmer.
        most: characters of an excerpt.
    """

    def __init__(self, language: str, *, most: int):
        self._terms: Analyser = analyser(language)
        self._most = most

    def excerpts(self, question: str, texts: Sequence[str]) -> list[Excerpt]:
        """Return an excerpt of each text, at most `most` characters.

        A shared word counts by how few of all these passages hold it.
        """
        asked = set(self._terms(question))
        spans = [passage_spans(text) for text in texts]
        shared = [
            [asked.intersection(self._terms(text[start:end])) for start, end in spans[place]]
            for place, text in enumerate(texts)
        ]
        holding = Counter(term for sets in shared for terms in sets for term in terms)
        n_passages = sum(map(len, shared))
        weights = {term: math.log(1 + n_passages / count) for term, count in holding.items()}
        excerpts = []
        for text, places, sets in zip(texts, spans, shared, strict=True):
            scores = [math.fsum(weights[term] for term in terms) for terms in sets]
            best = max(range(len(scores)), key=scores.__getitem__, default=0)
            passage = places[best] if scores and scores[best] > 0 else None
            excerpts.append(excerpt(text, passage, most=self._most))
        return excerpts


def passage_spans(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the passages of a text: sentences and list items, none longer than 400 characters."""
    spans, start = [], 0
    for cut in _CUT.finditer(text):
        if _ABBREVIATED.search(text[max(start, cut.start() - 5) : cut.start()]):
            continue
        spans += _short(text, start, cut.start())
        start = cut.end()
    return [*spans, *_short(text, start, len(text.rstrip()))]


def excerpt(text: str, passage: tuple[int, int] | None, *, most: int) -> Excerpt:
    """Return the whole text where it has at most `most` characters, else as many of them around the passage."""
    if len(text) <= most:
        return Excerpt(text, passage)
    if passage is None:
        return Excerpt(text[:most], None)
    start, end = passage
    begin = max(0, min((start + end - most) // 2, len(text) - most))
    return Excerpt(text[begin : begin + most], (start - begin, end - begin))


def _short(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return a stretch of a text in parts of at most 400 characters, cut at spaces where there are any."""
    spans = []
    while end - start > MAX_PASSAGE:
        cut = text.rfind(" ", start + 1, start + MAX_PASSAGE)
        cut = cut if cut > start else start + MAX_PASSAGE
        spans.append((start, cut))
        start = cut + 1 if text[cut].isspace() else cut
    return [*spans, (start, end)] if end > start else spans
