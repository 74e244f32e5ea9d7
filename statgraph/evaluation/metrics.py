"""The measures of one ranking (G-DSR, appendix D), from which of its places hold a relevant article."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np


def recall(found: np.ndarray, n_relevant: int, *, cut: int) -> float:
    """Return R@cut: the share of the relevant articles that stand in the first `cut` places.

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
