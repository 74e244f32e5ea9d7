"""Metrics on the dev split from vectors as they stand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statgraph.evaluation.question_metrics import aggregate, question_metrics

DEPTH = 500


def vector_metrics(
    question_vectors: np.ndarray, article_vectors: np.ndarray, label_rows: Sequence[Sequence[int]]
) -> dict[str, float]:
    """Return every metric (means over the questions, 0 to 1) of ranking articles by inner product, ties by row.

    Args:
        question_vectors: (questions, width).
        article_vectors: (articles, width).
        label_rows: the rows that answer each question.
    """
    scores = question_vectors @ article_vectors.T  # (questions, articles)
    depth = min(DEPTH, scores.shape[1])
    best = np.sort(np.argpartition(-scores, depth - 1, axis=1)[:, :depth], axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    metrics = aggregate(question_metrics(np.take_along_axis(best, order, axis=1), label_rows))
    return {name: round(value, 5) for name, value in metrics.items()}
