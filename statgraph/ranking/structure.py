"""Where each article stands in the law, as arrays by row: its section, what it cites and what cites it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.artifacts import array_damage_told
from statgraph.corpus.citations.references import references_among
from statgraph.corpus.records import Article
from statgraph.errors import RunError, reason_of

_LETTERS = re.compile(r"\W*(?:art\w*\.?|sections?|§+)?\s*((?:[A-Z]{1,2}(?=[.\s*]*\d))?)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Structure:
    """The law's structure; every array is int32 but for `starts`.

    Attributes:
        section: (articles,) which articles stand directly under the same heading: equal numbers do.
        parent: (articles,) which stand anywhere under the same heading above that one, or in the same code.
        place: (articles,) place in the section, from 0.
        depth: (articles,) headings above.
        length: (articles,) characters of text.
        number_kind: (articles,) which letters its number begins with (the L and R of French law), from 0.
        cited: (citations,) article rows that each article cites, article by article.
        cited_starts: (articles + 1,) int64, where each article's begin in `cited`.
    """

    section: np.ndarray
    parent: np.ndarray
    place: np.ndarray
    depth: np.ndarray
    length: np.ndarray
    number_kind: np.ndarray
    cited: np.ndarray
    cited_starts: np.ndarray

    @classmethod
    def of(cls, articles: Sequence[Article]) -> Structure:
        """Return the structure of a law: its headings, and the citations found in its texts."""
        section = _numbered([article.path for article in articles])
        cited, starts = _citations(articles)
        return cls(
            section=section,
            parent=_numbered([article.path[:-1] or article.path for article in articles]),
            place=_places(section),
            depth=np.array([len(article.path) for article in articles], dtype=np.int32),
            length=np.array([len(article.text) for article in articles], dtype=np.int32),
            number_kind=_numbered([_LETTERS.match(article.title)[1].upper() for article in articles]),
            cited=cited,
            cited_starts=starts,
        )

    @classmethod
    def read(cls, path: Path, n_articles: int) -> Structure:
        """Return what `write` saved.

        Raises:
            RunError: if the file is damaged, or of another number of articles.
        """
        try:
            with array_damage_told(), np.load(path, allow_pickle=False) as saved:
                structure = cls(**{item.name: saved[item.name] for item in fields(cls)})
            structure._check(n_articles)
        except (OSError, ValueError, KeyError) as error:
            raise RunError(f"{path}: not readable ({reason_of(error)}); train the run again") from None
        return structure

    def write(self, path: Path) -> None:
        """Write the arrays as one npz file."""
        np.savez(path, **{item.name: getattr(self, item.name) for item in fields(self)})

    def _check(self, n_articles: int) -> None:
        by_article = (self.section, self.parent, self.place, self.depth, self.length, self.number_kind)
        if {len(array) for array in by_article} != {n_articles} or len(self.cited_starts) != n_articles + 1:
            raise ValueError(f"not of {n_articles} articles")
        if self.cited_starts[-1] != len(self.cited) or (np.diff(self.cited_starts) < 0).any():
            raise ValueError("citations that do not fit together")
        if len(self.cited) and not (self.cited.min() >= 0 and self.cited.max() < n_articles):
            raise ValueError("citations of articles that are not there")

    def __len__(self) -> int:
        return len(self.section)

    @cached_property
    def citing(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (starts (articles + 1,) int64, rows int32): the articles that cite each article."""
        sources = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.cited_starts))
        order = np.argsort(self.cited, kind="stable")
        return _starts(self.cited, len(self)), sources[order]

    @cached_property
    def members(self) -> tuple[np.ndarray, np.ndarray]:
        """Return (starts (sections + 1,) int64, rows int32): the articles of each section, in order."""
        n_sections = int(self.section.max(initial=-1)) + 1
        return _starts(self.section, n_sections), np.argsort(self.section, kind="stable").astype(np.int32)

    @cached_property
    def siblings(self) -> np.ndarray:
        """Return how many other articles stand directly under the same heading, (articles,) int32."""
        return (np.bincount(self.section)[self.section] - 1).astype(np.int32)

    @cached_property
    def facts(self) -> tuple[np.ndarray, ...]:
        """Return what a ranker may know of each article, (articles,) float32 each, in the order of `features.FACTS`."""
        cites = np.diff(self.cited_starts)
        facts = (self.place, self.siblings, self.times_cited, cites, self.length, self.depth, self.number_kind)
        return tuple(fact.astype(np.float32) for fact in facts)

    @cached_property
    def times_cited(self) -> np.ndarray:
        """Return how many articles cite each, (articles,) int32."""
        return np.diff(self.citing[0]).astype(np.int32)


def gathered(starts: np.ndarray, values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (values of these rows of a ragged array, one after another; the place in `rows` that each belongs to)."""
    counts = starts[rows + 1] - starts[rows]
    places = np.repeat(np.arange(len(rows)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return values[np.repeat(starts[rows], counts) + offsets], places


def _numbered(keys: Sequence[object]) -> np.ndarray:
    """Return a number for each key, equal for equal ones, in order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int32)


def _places(section: np.ndarray) -> np.ndarray:
    order = np.argsort(section, kind="stable")
    starts = _starts(section, int(section.max(initial=-1)) + 1)
    places = np.empty(len(section), dtype=np.int32)
    places[order] = np.arange(len(section)) - starts[section[order]]
    return places


def _starts(numbers: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=n))]).astype(np.int64)


def _citations(articles: Sequence[Article]) -> tuple[np.ndarray, np.ndarray]:
    found = references_among(tuple(articles))
    starts = np.cumsum([0, *map(len, found)]).astype(np.int64)
    return np.array([to for of_article in found for to in of_article], dtype=np.int32), starts
