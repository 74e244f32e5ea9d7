"""What a new version of a corpus changes of the articles that a run holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from statgraph.law.records import Article
from statgraph.law.validity import FOR_EVER, SINCE_EVER, days_in_force
from statgraph.runs.article_store import StoredArticle

PARTS = ("text", "path", "title", "rubric", "place", "dates")


@dataclass(frozen=True)
class ArticleChanges:
    """Article ids by what has become of them; equal ids are the same article.

    Attributes:
        added: in the order of the new version.
        repealed: in the order of the run.
        amended: by part (text, path, title, rubric, place, dates in force), those of both versions whose part differs.
            The place of as few articles as possible counts as changed: those that the others need not have moved for.
        n_kept: how many articles both versions have.
    """

    added: tuple[str, ...]
    repealed: tuple[str, ...]
    amended: Mapping[str, tuple[str, ...]]
    n_kept: int

    @property
    def amended_ids(self) -> frozenset[str]:
        """Return the ids of all articles that have changed in any part."""
        return frozenset(article_id for ids in self.amended.values() for article_id in ids)

    def counts(self) -> dict[str, Any]:
        """Return how many articles there are of each kind, as JSON values."""
        return {
            "added": len(self.added),
            "repealed": len(self.repealed),
            "amended": len(self.amended_ids),
            "amended_parts": {part: len(ids) for part, ids in self.amended.items()},
            "unchanged": self.n_kept - len(self.amended_ids),
        }


def article_changes(
    old: Sequence[StoredArticle], new: Sequence[Article], old_days: np.ndarray | None = None
) -> ArticleChanges:
    """Return what the articles of a run have become in a new version.

    Args:
        old: the articles of the run, by row.
        new: those of the new version.
        old_days: (articles of the run, 2) int32, when they are in force; None where none has a date.
    """
    undated = (SINCE_EVER, FOR_EVER)
    before = {article.article_id: (row, article) for row, article in enumerate(old)}
    after = {article.article_id for article in new}
    kept = [(article, *before[article.article_id]) for article in new if article.article_id in before]
    in_place = _longest_ascent([row for _, row, _ in kept])
    amended: dict[str, list[str]] = {part: [] for part in PARTS}
    for place, (now, row, then) in enumerate(kept):
        days = undated if old_days is None else tuple(old_days[row].tolist())
        differs = (
            now.text != then.text,
            now.path != then.path,
            now.title != then.title,
            now.rubric != then.rubric,
            place not in in_place,
            days_in_force(now.metadata) != days,
        )
        for part in compress(PARTS, differs):
            amended[part].append(now.article_id)
    return ArticleChanges(
        added=tuple(article.article_id for article in new if article.article_id not in before),
        repealed=tuple(article_id for article_id in before if article_id not in after),
        amended={part: tuple(ids) for part, ids in amended.items()},
        n_kept=len(kept),
    )


def _longest_ascent(rows: Sequence[int]) -> set[int]:
    """Return the positions of a longest ascending subsequence of distinct numbers (Fredman, 1975)."""
    ends: list[tuple[int, int]] = []  # of the ascents of each length so far, the least last number and its position
    came_from = []
    for at, row in enumerate(rows):
        length = bisect_left(ends, (row, at))
        came_from.append(ends[length - 1][1] if length else -1)
        ends[length : length + 1] = [(row, at)]
    positions, at = set(), ends[-1][1] if ends else -1
    while at >= 0:
        positions.add(at)
        at = came_from[at]
    return positions
