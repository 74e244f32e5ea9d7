"""A kind of system: the articles in the order of their ids, whatever the question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.runs.kind import SystemKind


class Alphabetical(SystemKind):
    """Ranks every article by its id: the baseline below all baselines."""

    def train(self, job: Any) -> None:
        """Train nothing."""

    def ranker(self, run: Any, articles: Any, *, device: str, precision: str, engine: Any = None) -> AlphabeticalRanker:
        """Return the order of the ids."""
        return AlphabeticalRanker([outline.article_id for outline in articles.outlines])


class AlphabeticalRanker:
    """Answers every question with the same ranking."""

    by_words, floor, signals = False, None, ()

    def __init__(self, article_ids: Sequence[str]):
        self._order = np.argsort(article_ids, kind="stable")

    def rank(self, questions: Sequence[str], k: int, allowed: AllowedRows | None = None) -> list[Ranked]:
        """Return the first `k` allowed articles for each question."""
        rows = self._order if allowed is None else self._order[allowed.mask[self._order]]
        return [Ranked(rows[:k], np.arange(len(rows[:k]), 0, -1, dtype=np.float32))] * len(questions)
