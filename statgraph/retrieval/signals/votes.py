"""The votes of the nearest training questions for the articles that answer them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.errors import damaged_run
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.signals.centring import units
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import (
    TRAINED,
    WORDS,
    Proposal,
    QuestionBatch,
    Signal,
    SignalInfo,
    SignalSource,
)
from statgraph.runs.run import RunFolder

TEMPERATURE = 0.05
_VECTORS, _LABELS, _MEMBER = "vectors.npy", "labels.npz", "member.json"


class VotesSignal(Signal):
    """Each training question votes for its articles by softmax(cosine / 0.05) over all training questions; an article's
    score is the root of its share of the votes.

    Args:
        vectors: of the training questions by the member's encoder, (questions, width) float32.
        labels: (labels, 2) int64: a row of `vectors` and that of an article that answers it.
        n_articles: of the law.
        member: whose encoder reads the questions.
    """

    kind = name = "votes"
    n_articles: int
    member: DenseSignal
    info = SignalInfo(weight=0.3, learns=True, named=True, words=WORDS["votes"])

    def __init__(self, vectors: np.ndarray, labels: np.ndarray, n_articles: int, member: DenseSignal):
        self._vectors = units(vectors)
        self._labels = labels
        self.n_articles = n_articles
        self.member = member

    @staticmethod
    def write(source: SignalSource, folder: Path) -> bool:
        """Save the training questions as the first trained member encodes them, else the first; return whether there
        are any."""
        if not source.questions or not source.members:
            return False
        member = next((member for member in source.members if member.kind == TRAINED), source.members[0])
        rows = source.article_rows
        labels = [
            (place, rows[article_id])
            for place, question in enumerate(source.questions)
            for article_id in question.article_ids
            if article_id in rows
        ]
        vectors = member.encoder.encode([question.text for question in source.questions])
        np.save(folder / _VECTORS, vectors, allow_pickle=False)
        np.savez(folder / _LABELS, labels=np.array(labels, dtype=np.int64), n_articles=len(source.articles))
        artifacts.write_json(folder / _MEMBER, member.name)
        return True

    @classmethod
    def read(cls, folder: Path, run: RunFolder, members: Sequence[DenseSignal]) -> VotesSignal:
        """Return the signal that `write` saved.

        Raises:
            RunError: if it is damaged, or the member whose encoder it needs is not in the run.
        """
        with artifacts.reading(folder):
            name = json.loads((folder / _MEMBER).read_text(encoding="utf-8"))
            vectors = np.load(folder / _VECTORS, allow_pickle=False)
            with np.load(folder / _LABELS, allow_pickle=False) as saved:
                labels, n_articles = saved["labels"], int(saved["n_articles"])
            if (
                vectors.ndim != 2
                or not np.isfinite(vectors).all()
                or labels.dtype != np.int64
                or labels.shape[1:] != (2,)
            ):
                raise ValueError("arrays of another kind")
            if (labels < 0).any() or (labels >= (len(vectors), n_articles)).any():
                raise ValueError("labels of questions or articles that are not there")
        member = next((member for member in members if member.name == name), None)
        if member is None:
            raise damaged_run(f"{folder}: made by member '{name}', which the run does not have")
        if member.width != vectors.shape[1]:
            raise damaged_run(
                f"{folder / _VECTORS}: vectors of width {vectors.shape[1]}, where member '{name}' has {member.width}"
            )
        return cls(vectors, labels, n_articles, member)

    def propose(self, questions: QuestionBatch, k: int, allowed: AllowedRows | None) -> list[Proposal]:
        """Return the articles with the most votes."""
        cosines = units(questions.vectors(self.member.encoder)) @ self._vectors.T  # (texts, training questions)
        weights = np.exp((cosines - cosines.max(axis=1, keepdims=True)) / TEMPERATURE)
        weights /= weights.sum(axis=1, keepdims=True)
        shares = (self._shares(text_weights) for text_weights in weights)
        return [Proposal.from_scores(np.sqrt(each), k, allowed, absolute=True) for each in shares]

    def _shares(self, weights: np.ndarray) -> np.ndarray:
        questions, articles = self._labels.T
        return np.bincount(articles, weights[questions], minlength=self.n_articles).astype(np.float32)
