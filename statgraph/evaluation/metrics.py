"""Ranking metrics, and those of each question of a split."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np


def recall(found: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return R@cut: the share of the relevant articles in the first `cut` places.

    Args:
        found: (depth,) bool, whether the article at each place is relevant.
        n_relevant: how many articles are relevant, found or not; at least 1.
        cut: how many places count.
    """
    return float(found[:cut].sum() / n_relevant)


def average_precision(found: np.ndarray, n_relevant: int) -> float:
    """Return AP: the mean over the relevant articles of the precision at their place, 0 for one that is not found."""
    places = np.flatnonzero(found) + 1
    precisions = np.arange(1, len(places) + 1) / places
    return float(precisions.sum() / n_relevant)


def r_precision(found: np.ndarray, n_relevant: int) -> float:
    """Return RP: the share of relevant articles in the first `n_relevant` places."""
    return recall(found, n_relevant, cut=n_relevant)


def ndcg(found: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return nDCG@cut with binary gains: the gain, discounted by log2(place + 1), over that of an ideal ranking."""
    discounts = 1 / np.log2(np.arange(2, cut + 2))  # (cut,)
    head = found[:cut]
    return float(discounts[: len(head)][head].sum() / discounts[:n_relevant].sum())


def reciprocal_rank(found: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return RR@cut: one over the place of the first relevant article, 0 if none is in the first `cut` places."""
    places = np.flatnonzero(found[:cut])
    return 1 / (int(places[0]) + 1) if len(places) else 0.0


Metric = Callable[[np.ndarray, int], float]

# The names are those of the mean over questions.
METRICS: Mapping[str, Metric] = {
    "R@100": partial(recall, cut=100),
    "R@200": partial(recall, cut=200),
    "R@500": partial(recall, cut=500),
    "mAP": average_precision,
    "mRP": r_precision,
    "nDCG@10": partial(ndcg, cut=10),
    "MRR@10": partial(reciprocal_rank, cut=10),
}


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
        raise ValueError("no questions; evaluate at least one")
    return {name: float(values.mean()) for name, values in metrics.values.items()}


def _found(question: int, ranking: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, int]:
    if not len(relevant):
        raise ValueError(f"question {question}: has no relevant article; leave it out of the evaluation")
    if len(np.unique(ranking)) < len(ranking):
        raise ValueError(f"question {question}: its ranking holds an article twice; rank each article once")
    return np.isin(ranking, relevant), len(relevant)
