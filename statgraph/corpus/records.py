"""The records that all parts of the toolkit exchange: articles, headings, questions, and the corpus that holds them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True, slots=True)
class Article:
    """One article of law: the unit that is retrieved.

    `path` holds the headings above it, from the code down to its own section; `order` is its place within its code.
    `metadata` is whatever else the source says about it (JSON values), kept but unused, except for when it is in force
    (`statgraph.corpus.validity`).
    """

    article_id: str
    title: str
    text: str
    path: tuple[str, ...]
    order: int
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)

    @property
    def code(self) -> str:
        """Return the title of the code that the article belongs to."""
        return self.path[0]


@dataclass(frozen=True, slots=True)
class Heading:
    """One heading of the table of contents. Its identity is its whole path: two codes can hold equal titles."""

    path: tuple[str, ...]

    @property
    def title(self) -> str:
        """Return the heading's own title, the last of its path."""
        return self.path[-1]

    @property
    def depth(self) -> int:
        """Return the heading's level; a code has depth 1."""
        return len(self.path)

    @property
    def parent(self) -> Heading | None:
        """Return the heading above, or None for a code."""
        return Heading(self.path[:-1]) if len(self.path) > 1 else None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with the articles that answer it, in one split (`train`, `dev` or `test`)."""

    question_id: str
    text: str
    split: str
    article_ids: tuple[str, ...]
    metadata: Mapping[str, object] = field(default_factory=dict, compare=False)


@dataclass(frozen=True)
class Corpus:
    """Articles in the order of their codes and the labelled questions about them.

    `language` is an ISO 639-1 code ("fr", "en"). Build one through a `statgraph.corpus.draft.Draft`,
    which refuses inconsistent data.
    """

    name: str
    language: str
    licence: str
    source: str
    articles: tuple[Article, ...]
    questions: tuple[Question, ...]

    @cached_property
    def article_rows(self) -> dict[str, int]:
        """Return the position in `articles` of each article id."""
        return {article.article_id: row for row, article in enumerate(self.articles)}

    @cached_property
    def content_hash(self) -> str:
        """Return the SHA-256 (hex) of all articles and questions: equal content, equal hash, whatever the folder."""
        digest = hashlib.sha256()
        for article in self.articles:
            _add_fields(digest, "a", article.article_id, article.title, article.text, list(article.path), article.order)
        for question in self.questions:
            _add_fields(digest, "q", question.question_id, question.text, question.split, list(question.article_ids))
        return digest.hexdigest()

    def split(self, name: str) -> tuple[Question, ...]:
        """Return the questions of one split, in corpus order."""
        return tuple(question for question in self.questions if question.split == name)

    def label_rows(self, questions: Iterable[Question]) -> list[list[int]]:
        """Return for each question the rows in `articles` of the articles that answer it."""
        rows = self.article_rows
        return [[rows[article_id] for article_id in question.article_ids] for question in questions]


def headings_of(articles: Iterable[Article]) -> Iterator[Heading]:
    """Yield every heading above the articles once, parents before children, in order of first appearance."""
    seen: set[tuple[str, ...]] = set()
    for article in articles:
        for depth in range(1, len(article.path) + 1):
            path = article.path[:depth]
            if path not in seen:
                seen.add(path)
                yield Heading(path)


def _add_fields(digest, *values: object) -> None:
    digest.update(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))
    digest.update(b"\n")


SHARES = (0.60, 0.15, 0.25)


def split_of(question_id: str, shares: Sequence[float] = SHARES) -> str:
    """Return "train", "dev" or "test" for a question, by the SHA-256 of its id.

    `shares` are the parts of the three splits, in that order; they sum to 1. A question keeps its split whatever
    other questions come and go.

    Raises:
        ValueError: if the shares are not three numbers from 0 to 1 that sum to 1.
    """
    if len(shares) != len(SPLITS) or min(shares) < 0 or not math.isclose(sum(shares), 1.0):
        raise ValueError(f"shares {tuple(shares)}: give {len(SPLITS)} numbers from 0 to 1 that sum to 1")
    place = int.from_bytes(hashlib.sha256(question_id.encode("utf-8")).digest()[:8], "big") / 2**64  # in [0, 1)
    reached = 0.0
    for split, share in zip(SPLITS, shares, strict=True):
        reached += share
        if place < reached and share > 0:
            return split
    return next(split for split, share in zip(reversed(SPLITS), reversed(shares), strict=True) if share > 0)
