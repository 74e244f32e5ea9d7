"""The place of each article in the law, as arrays by row: its section, what it cites and what cites it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from statgraph.artifacts import reading, replaced_file
from statgraph.law.citations.references import Citations, Ragged, citations_among
from statgraph.law.records import AnyArticle
from statgraph.law.titles import number_or_title
from statgraph.law.tree import tree_of

_LETTERS = re.compile(r"\W*(?:art\w*\.?|sections?|§+)?\s*((?:[A-Z]{1,2}(?=[.\s*]*\d))?)", re.IGNORECASE)
_ROWS = ("section", "parent", "place", "depth", "length", "number_kind")  # int32, one for each article


@dataclass(frozen=True, eq=False)
class Structure:
    """The place and the citations of each article of a law; every array is (articles,) int32.

    Attributes:
        section: which articles stand directly under the same heading: equal numbers do.
        parent: which stand anywhere under the same heading above that one, or in the same code.
        place: place in the section, from 0.
        depth: headings above.
        length: characters of text.
        number_kind: which letters its number begins with (the L and R of French law), from 0.
        citations: which articles each cites.
    """

    section: np.ndarray
    parent: np.ndarray
    place: np.ndarray
    depth: np.ndarray
    length: np.ndarray
    number_kind: np.ndarray
    citations: Citations

    @classmethod
    def of(cls, articles: Sequence[AnyArticle]) -> Structure:
        """Return the structure of a law: the places of its articles, and the citations in their texts."""
        tree = tree_of(articles)
        section = tree.article_parents
        above = tree.heading_parents[section]
        numbered = list(map(_letters, articles))
        kinds = {letters: kind for kind, letters in enumerate(dict.fromkeys(numbered))}
        return cls(
            section=section.astype(np.int32),
            parent=np.where(above < 0, section, above).astype(np.int32),
            place=_places(section),
            depth=np.array([len(article.path) for article in articles], dtype=np.int32),
            length=np.array([len(article.text) for article in articles], dtype=np.int32),
            number_kind=np.array([kinds[letters] for letters in numbered], dtype=np.int32),
            citations=citations_among(tuple(articles)),
        )

    @classmethod
    def read(cls, path: Path, n_articles: int) -> Structure:
        """Return what `write` saved.

        Raises:
            RunError: if the file is damaged, or of another number of articles.
        """
        with reading(path), np.load(path, allow_pickle=False) as saved:
            citations = Citations(saved["cited"], saved["cited_starts"])
            structure = cls(**{name: saved[name] for name in _ROWS}, citations=citations)
            structure._check(n_articles)
            return structure

    def write(self, path: Path) -> None:
        """Write the arrays as one npz file."""
        arrays = {name: getattr(self, name) for name in _ROWS}
        with replaced_file(path) as staging, staging.open("wb") as file:
            np.savez(file, **arrays, cited=self.citations.targets, cited_starts=self.citations.starts)

    def _check(self, n_articles: int) -> None:
        cited, starts = self.citations.targets, self.citations.starts
        if {len(getattr(self, name)) for name in _ROWS} != {n_articles} or len(starts) != n_articles + 1:
            raise ValueError(f"not of {n_articles} articles")
        ordered = starts[-1] == len(cited) and (np.diff(starts) >= 0).all()
        if not ordered or not (cited.min(initial=0) >= 0 and cited.max(initial=-1) < n_articles):
            raise ValueError("citations that do not fit together")

    def __len__(self) -> int:
        return len(self.section)

    @cached_property
    def members(self) -> Ragged:
        """Return (starts (sections + 1,) int64, rows int32): the articles of each section, in order."""
        n_sections = int(self.section.max(initial=-1)) + 1
        return _starts(self.section, n_sections), np.argsort(self.section, kind="stable").astype(np.int32)

    @cached_property
    def siblings(self) -> np.ndarray:
        """Return how many other articles stand directly under the same heading, (articles,) int32."""
        siblings: np.ndarray = np.bincount(self.section)[self.section] - 1
        return siblings.astype(np.int32)

    @cached_property
    def facts(self) -> tuple[np.ndarray, ...]:
        """Return what a ranker may know of each article, (articles,) float32 each, in the order of `features.FACTS`."""
        cites = np.diff(self.citations.starts)
        facts = (self.place, self.siblings, self.times_cited, cites, self.length, self.depth, self.number_kind)
        return tuple(fact.astype(np.float32) for fact in facts)

    @cached_property
    def times_cited(self) -> np.ndarray:
        """Return how many articles cite each, (articles,) int32."""
        return np.diff(self.citations.referred_by[0]).astype(np.int32)


def gathered(ragged: Ragged, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (values of these rows of a ragged array, one after another; the place in `rows` that each belongs to)."""
    starts, values = ragged
    counts = starts[rows + 1] - starts[rows]
    places = np.repeat(np.arange(len(rows)), counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return values[np.repeat(starts[rows], counts) + offsets], places


def _letters(article: AnyArticle) -> str:
    """Return the letters before an article's number, "" for none."""
    letters = _LETTERS.match(number_or_title(article))
    return "" if letters is None else letters[1].upper()


def _places(section: np.ndarray) -> np.ndarray:
    order = np.argsort(section, kind="stable")
    starts = _starts(section, int(section.max(initial=-1)) + 1)
    places = np.empty(len(section), dtype=np.int32)
    places[order] = np.arange(len(section)) - starts[section[order]]
    return places


def _starts(numbers: np.ndarray, n: int) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=n))]).astype(np.int64)
