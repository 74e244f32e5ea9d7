"""A citation as a signal: the articles that a question names by number or title."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.citations.named_articles import HAS_NUMBER
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import WORDS, Proposal, QuestionBatch, Signal, SignalInfo, SignalSource
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder


class CitationSignal(Signal):
    """Scores what a question names 1, 1/2, 1/3 ... in the order of `NamedArticles`, and everything else 0."""

    kind = name = "citation"
    info = SignalInfo(weight=1.0, saved=False, words=WORDS["citation"])

    def __init__(self, store: ArticleStore):
        self._store = store

    @staticmethod
    def write(source: SignalSource, folder: Path) -> bool:
        """Return True: what it needs is in the run."""
        return True

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal] = ()) -> CitationSignal:
        """Return the signal of a run's articles."""
        return cls(run.articles)

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return what each question names."""
        return [Proposal.from_scores(self._scores(text), k, allowed) for text in questions.texts]

    def _scores(self, question: str) -> np.ndarray:
        scores = np.zeros(len(self._store), dtype=np.float32)
        if HAS_NUMBER.search(question):
            rows = self._store.named_articles.rows(question)
            scores[rows] = 1 / np.arange(1, len(rows) + 1)
        return scores
