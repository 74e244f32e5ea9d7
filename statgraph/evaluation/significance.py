"""How far a mean over questions can be trusted, and whether two systems differ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

CONFIDENCE = 0.95
N_RESAMPLES = 2000
N_PERMUTATIONS = 9999


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with the ends of its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """The mean of (second system - first system) over the same questions, and the p-value of "no difference"."""

    difference: Estimate
    p_value: float


def mean_estimate(values: np.ndarray, rng: np.random.Generator) -> Estimate:
    """Return the mean of `values` (questions,) with its percentile bootstrap interval over questions.

    Where no resample can differ (one question, or the same value for all) the interval is the value.

    Raises:
        ValueError: if there is no question.
    """
    if not len(values):
        raise ValueError("no questions; evaluate at least one")
    mean = float(np.mean(values))
    if np.ptp(values) == 0:
        return Estimate(mean, mean, mean)
    from scipy.stats import bootstrap

    interval = bootstrap(
        (values,),
        np.mean,
        vectorized=True,
        confidence_level=CONFIDENCE,
        n_resamples=N_RESAMPLES,
        method="percentile",
        rng=rng,
    ).confidence_interval
    return Estimate(mean, float(interval.low), float(interval.high))


def paired_difference(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> PairedDifference:
    """Return the mean gain of the second system over the first with a two-sided paired permutation test.

    Under "no difference" the two values of a question could be swapped. The test is exact where
    `N_PERMUTATIONS` holds every way to swap them, else drawn at random (Smucker, Allan and Carterette 2007).

    Args:
        first: (questions,) one metric of one system.
        second: (questions,) the same metric of the other, same questions in the same order.
        rng: draws the resamples.

    Raises:
        ValueError: if the counts differ, or there is no question.
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values of one system, but {len(second)} of the other; give the same questions")
    difference = mean_estimate(np.subtract(second, first), rng)
    if len(first) < 2 or difference.low == difference.high == 0:
        return PairedDifference(difference, 1.0)
    from scipy.stats import permutation_test

    test = permutation_test(
        (second, first),
        lambda left, right, axis: np.mean(left - right, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=N_PERMUTATIONS,
        rng=rng,
    )
    return PairedDifference(difference, float(test.pvalue))
