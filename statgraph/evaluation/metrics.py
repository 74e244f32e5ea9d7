"""Ranking metrics, those of each question of a split, and the number by which systems are chosen."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np


def recall(hits: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return R@cut: the share of the relevant articles, ranked or not and at least one, in the first `cut` places.

    `hits` (depth,) bool says of each place whether its article is relevant; so in every metric here.
    """
    return float(hits[:cut].sum() / n_relevant)


def success(hits: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return S@cut: 1 if a relevant article is in the first `cut` places, else 0."""
    return float(hits[:cut].any())


def average_precision(hits: np.ndarray, n_relevant: int) -> float:
    """Return AP: the mean over the relevant articles of the precision at their place, 0 for one that is not ranked."""
    places = np.flatnonzero(hits) + 1
    precisions = np.arange(1, len(places) + 1) / places
    return float(precisions.sum() / n_relevant)


def r_precision(hits: np.ndarray, n_relevant: int) -> float:
    """Return RP: the share of relevant articles in the first `n_relevant` places."""
    return recall(hits, n_relevant, cut=n_relevant)


def ndcg(hits: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return nDCG@cut with binary gains: the gain, discounted by log2(place + 1), over that of an ideal ranking."""
    discounts = 1 / np.log2(np.arange(2, cut + 2))  # (cut,)
    head = hits[:cut]
    return float(discounts[: len(head)][head].sum() / discounts[:n_relevant].sum())


def reciprocal_rank(hits: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return RR@cut: one over the place of the first relevant article, 0 if none is in the first `cut` places."""
    places = np.flatnonzero(hits[:cut])
    return 1 / (int(places[0]) + 1) if len(places) else 0.0


Metric = Callable[[np.ndarray, int], float]

DEPTH = 500  # how deep a ranking is measured
QUALITY = "quality"
_CUT_SHORT: Mapping[str, partial[float]] = {
    **{f"R@{cut}": partial(recall, cut=cut) for cut in (1, 3, 5, 10, 100, 200, DEPTH)},
    **{f"S@{cut}": partial(success, cut=cut) for cut in (1, 3)},
}
_GRADED: Mapping[str, Metric] = {
    "nDCG@10": partial(ndcg, cut=10),
    "MRR@10": partial(reciprocal_rank, cut=10),
    "mAP": average_precision,
    "mRP": r_precision,
}
# The names are those of the mean over questions.
METRICS = (*_CUT_SHORT, *_GRADED, QUALITY)


def left_out(n_articles: int) -> tuple[str, ...]:
    """Return the metrics that a corpus is too small for: R@k and S@k where k is a fifth of the articles or more, which
    lets a random ranking reach a fifth of the relevant articles."""
    return tuple(name for name, metric in _CUT_SHORT.items() if 5 * metric.keywords["cut"] >= n_articles)


def left_out_note(n_articles: int) -> str:
    """Return a note on the metrics that are left out, and why; blank for none."""
    names = ", ".join(left_out(n_articles))
    return names and f"left out: {names} (a fifth of the {n_articles:,} articles or more)"


def quality_cut(n_articles: int) -> int:
    """Return how many places the recall in `quality` counts: 1 % of the articles, at least 5 and at most `DEPTH`."""
    return min(max(5, round(n_articles / 100)), DEPTH)


def quality(hits: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return the mean of AP and R@cut, the default by which training and tuning choose.

    AP compares systems by their first places and hardly sees the rest; recall at 1 % of the articles measures whether a
    reader, or a second stage, gets the articles at all, on a corpus of any size.
    """
    return (average_precision(hits, n_relevant) + recall(hits, n_relevant, cut=cut)) / 2


def deciding_metric(select_by: str, n_articles: int) -> str:
    """Return `select_by`, or quality where the corpus is too small for it, or it is no metric."""
    return QUALITY if select_by not in METRICS or select_by in left_out(n_articles) else select_by


def choice_key(means: Mapping[str, float], metric: str = QUALITY) -> tuple[float, float]:
    """Return the key by which the best of several systems, epochs or settings is chosen: the mean of the deciding
    metric, then quality."""
    return means[metric], means[QUALITY]


@dataclass(frozen=True)
class QuestionMetrics:
    """The value of each metric for every question: `values[name]` is (questions,) float64, in question order.

    `clusters`, (questions,) int64, are equal for questions that are not independent; None where all are.
    """

    values: Mapping[str, np.ndarray]
    clusters: np.ndarray | None = None

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[name]

    def __len__(self) -> int:
        return len(next(iter(self.values.values())))

    def only(self, names: Collection[str]) -> QuestionMetrics:
        """Return the metrics of these names, as far as they were measured."""
        return replace(self, values={name: values for name, values in self.values.items() if name in names})

    def where(self, mask: np.ndarray) -> QuestionMetrics:
        """Return the metrics of the questions where `mask` (questions,) bool is true."""
        clusters = None if self.clusters is None else self.clusters[mask]
        return QuestionMetrics({name: values[mask] for name, values in self.values.items()}, clusters)


def question_metrics(
    ranking_rows: Sequence[np.ndarray], relevant_rows: Sequence[Sequence[int]], n_articles: int
) -> QuestionMetrics:
    """Return all of `METRICS` but those `left_out` for each question; a ranking counts as deep as it is.

    Args:
        ranking_rows: for each question the ranked article rows, (depth,) int64, best first; or (questions, depth).
        relevant_rows: for each question the rows of the articles that answer it, at least one.
        n_articles: how many articles there are to rank.

    Raises:
        ValueError: if the counts differ, a question has no relevant article, or a ranking holds an article twice.
    """
    if len(ranking_rows) != len(relevant_rows):
        raise ValueError(f"{len(ranking_rows)} rankings, but {len(relevant_rows)} questions; give one for each")
    metrics: dict[str, Metric] = {**_CUT_SHORT, **_GRADED, QUALITY: partial(quality, cut=quality_cut(n_articles))}
    for name in left_out(n_articles):
        del metrics[name]
    table = np.empty((len(metrics), len(ranking_rows)))  # (metrics, questions)
    for question, (ranking, relevant) in enumerate(zip(ranking_rows, relevant_rows, strict=True)):
        hits, n_relevant = _hits(question, np.asarray(ranking), np.unique(relevant))
        table[:, question] = [metric(hits, n_relevant) for metric in metrics.values()]
    return QuestionMetrics(dict(zip(metrics, table, strict=True)))


def ranking_quality(metrics: QuestionMetrics) -> np.ndarray:
    """Return what a ranker of candidates is chosen by, (questions,) float64: the mean of AP, R@1 % of the articles, S@1
    and S@3. Quality alone would trade the first hits, which readers look at, for long lists.

    What a corpus is too small for counts as quality does.
    """
    first_hits = [metrics.values.get(name, metrics[QUALITY]) for name in ("S@1", "S@3")]
    return (2 * metrics[QUALITY] + sum(first_hits)) / 4


def article_means(ranking_rows: Sequence[np.ndarray], relevant_rows: Sequence[Sequence[int]]) -> dict[str, float]:
    """Return S@3 and MRR@10 with each article that answers counted once: how often it is found by the questions that it
    answers, as a mean over articles. Where a few articles answer most questions, as they do in some corpora, the
    metrics over questions say how well these few are found.

    The arguments are those of `question_metrics`; empty without questions.
    """
    found: dict[int, list[tuple[float, float]]] = {}
    for ranking, relevant in zip(ranking_rows, relevant_rows, strict=True):
        places = {int(row): place for place, row in enumerate(ranking[:10], start=1)}
        for row in set(relevant):
            place = places.get(row, 0)
            found.setdefault(row, []).append((float(0 < place <= 3), 1 / place if place else 0.0))
    if not found:
        return {}
    success, rank = np.mean([np.mean(values, axis=0) for values in found.values()], axis=0).tolist()
    return {"S@3": success, "MRR@10": rank}


def aggregate(metrics: QuestionMetrics) -> dict[str, float]:
    """Return the mean of each metric over the questions, each question weighing the same (macro-average).

    Raises:
        ValueError: if there is no question.
    """
    if not len(metrics):
        raise ValueError("no questions; evaluate at least one")
    return {name: float(values.mean()) for name, values in metrics.values.items()}


def _hits(question: int, ranking: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, int]:
    if not len(relevant):
        raise ValueError(f"question {question}: has no relevant article; leave it out of the evaluation")
    if len(np.unique(ranking)) < len(ranking):
        raise ValueError(f"question {question}: its ranking holds an article twice; rank each article once")
    return np.isin(ranking, relevant), len(relevant)
