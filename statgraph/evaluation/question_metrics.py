"""Every measure of every question, and their means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.evaluation.metrics import METRICS


@dataclass(frozen=True)
class QuestionMetrics:
    """The value of every metric for every question: `values[name]` is (questions,) float64, in question order."""

    values: Mapping[str, np.ndarray]

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def where(self, mask: np.ndarray) -> QuestionMetrics:
        """Return the metrics of the questions where `mask` (questions,) bool is true."""
        return QuestionMetrics({name: values[mask] for name, values in self.values.items()})


def question_metrics(ranking_rows: Sequence[np.ndarray], relevant_rows: Sequence[Sequence[int]]) -> QuestionMetrics:
    """Return all of `METRICS` for each question; a ranking counts as deep as it is.

    Args:
        ranking_rows: for each question the article rows found, (depth,) int64, best first; or (questions, depth).
        relevant_rows: for each question the rows of the articles that answer it, at least one.

    Raises:
        ValueError: if the counts differ, a question has no relevant article, or a ranking holds an article twice.
    """
    if len(ranking_rows) != len(relevant_rows):
        raise ValueError(f"{len(ranking_rows)} rankings, but {len(relevant_rows)} questions; give one for each")
    table = np.empty((len(METRICS), len(ranking_rows)))  # (metrics, questions)
    for question, (ranking, relevant) in enumerate(zip(ranking_rows, relevant_rows, strict=True)):
        found, n_relevant = _found(question, np.asarray(ranking), np.unique(relevant))
        table[:, question] = [metric(found, n_relevant) for metric in METRICS.values()]
    return QuestionMetrics(dict(zip(METRICS, table, strict=True)))


def aggregate(metrics: QuestionMetrics) -> dict[str, float]:
    """Return the mean of each metric over the questions, each question weighing the same (macro-average).

    Raises:
        ValueError: if there is no question.
    """
    if not len(metrics):
        raise ValueError("0 questions have no mean; evaluate at least one")
    return {name: float(values.mean()) for name, values in metrics.values.items()}


def _found(question: int, ranking: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, int]:
    if not len(relevant):
        raise ValueError(f"question {question}: has no relevant article; leave it out of the evaluation")
    if len(np.unique(ranking)) < len(ranking):
        raise ValueError(f"question {question}: its ranking holds an article twice; rank each article once")
    return np.isin(ranking, relevant), len(relevant)
