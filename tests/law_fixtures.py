"""Two small laws written for these tests, each with 20 questions as citizens ask, and poorer variants of them.

`tests/laws/NAME` is what `statgraph import jsonl` reads. The questions were written after the law, in everyday words.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.formats.importing import import_corpus
from statgraph.law.records import Article, Corpus

LAWS = Path(__file__).with_name("laws")
NAMES = ("household-services", "vereine")

_NUMBERS = r"\d+(?:(?:, \d+)* (?:to|and|bis|und) \d+)?"
_CITATIONS = {
    "en": (re.compile(rf"\b[Ss]ections? {_NUMBERS}"), "another provision"),
    "de": (re.compile(rf"§§? {_NUMBERS}(?: (?:Absatz|Satz) \d+)*"), "anderer Vorschrift"),
}


def _whole(article: Article, language: str) -> Article:
    return article


def _without_headings(article: Article, language: str) -> Article:
    """Return an article right under its code, and with its number as its title."""
    return replace(article, path=article.path[:1], title=re.match(r"\D+\d+", article.title)[0])


def _without_citations(article: Article, language: str) -> Article:
    pattern, instead = _CITATIONS[language]
    return replace(article, text=pattern.sub(instead, article.text))


def _with_one_heading(article: Article, language: str) -> Article:
    return replace(article, path=(article.code, "1"))


VARIANTS = {
    "whole": _whole,
    "without headings": _without_headings,
    "without citations": _without_citations,
    "with one heading": _with_one_heading,
}


@pytest.fixture(scope="session")
def small_law() -> Callable[..., Corpus]:
    """Return a function that gives a law by its name in NAMES, in a variant of VARIANTS; its questions are a test
    split, each with the ids of the articles that answer it."""

    def read(name: str, variant: str = "whole") -> Corpus:
        law = import_corpus(LAWS / name, "jsonl")
        change = VARIANTS[variant]
        return replace(law, articles=tuple(change(article, law.language) for article in law.articles))

    return read
