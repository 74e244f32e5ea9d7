"""Confidence intervals of means over questions, and tests of a system against a baseline on the same questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.evaluation.metrics import QuestionMetrics

CONFIDENCE = 0.95
N_RESAMPLES = 2000
N_PERMUTATIONS = 9999
_AT_ONCE = 1000  # permutations that fit a processor's cache: twice as fast as all at once
SIGNIFICANCE_LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over questions with the ends of its confidence interval."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """The mean of (system - baseline) over the questions, its 95 % bootstrap interval and permutation p-value.

    It is significant where the interval excludes 0 and the p-value is below `SIGNIFICANCE_LEVEL`.
    """

    difference: float
    low: float
    high: float
    p_value: float
    significant: bool
    n_questions: int


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """One of several metrics compared: both means, the comparison, and its p-value adjusted for their number."""

    baseline_mean: float
    system_mean: float
    comparison: Comparison
    adjusted_p_value: float


def mean_estimate(values: np.ndarray, rng: np.random.Generator, clusters: np.ndarray | None = None) -> Estimate:
    """Return the mean of `values` (questions,) with its percentile bootstrap interval over questions, or over the
    `clusters` that hold them (as in `QuestionMetrics`).

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

    by_cluster = () if clusters is None else (_sums(values, clusters), _sums(np.ones(len(values)), clusters))
    interval = bootstrap(
        by_cluster or (values,),
        (lambda sums, sizes, axis: sums.sum(axis) / sizes.sum(axis)) if by_cluster else np.mean,
        paired=bool(by_cluster),
        vectorized=True,
        confidence_level=CONFIDENCE,
        n_resamples=N_RESAMPLES,
        method="percentile",
        rng=rng,
    ).confidence_interval
    return Estimate(mean, float(interval.low), float(interval.high))


def compare(
    baseline: Sequence[QuestionMetrics], system: Sequence[QuestionMetrics], metric: str, rng: np.random.Generator
) -> Comparison:
    """Return the difference of a system from a baseline in one metric; a question's value is its mean over the seeds.

    The test is a two-sided paired permutation test: under "no difference" the two values of a question, or all of a
    cluster's, could be swapped. It is exact where `N_PERMUTATIONS` hold every way to swap them, else drawn at random
    (Smucker, Allan and Carterette 2007).

    Both have the metrics of each seed, over the same questions in the same order; the number of seeds may differ.

    Raises:
        ValueError: if one has no seed, or the number of questions differs.
    """
    first, second = _seed_means(baseline, metric), _seed_means(system, metric)
    if len(first) != len(second):
        raise ValueError(f"{len(first)} values of one system, but {len(second)} of the other; give the same questions")
    clusters = system[0].clusters
    gain = mean_estimate(second - first, rng, clusters)
    if clusters is not None:
        first, second = _sums(first, clusters), _sums(second, clusters)
    p_value = 1.0 if len(first) < 2 or gain.low == gain.high == 0 else _p_value(first, second, rng)
    significant = (gain.low > 0 or gain.high < 0) and p_value < SIGNIFICANCE_LEVEL
    return Comparison(gain.mean, gain.low, gain.high, p_value, significant, len(system[0]))


def compare_metrics(
    baseline: Sequence[QuestionMetrics], system: Sequence[QuestionMetrics], rng: np.random.Generator
) -> dict[str, MetricComparison]:
    """Return the comparison of every metric that the baseline has, the rest as in `compare`."""
    if not baseline:
        raise ValueError("no seeds; give at least one")
    comparisons = {metric: compare(baseline, system, metric, rng) for metric in baseline[0].values}
    adjusted = adjusted_p_values([comparison.p_value for comparison in comparisons.values()])
    return {
        metric: MetricComparison(
            float(_seed_means(baseline, metric).mean()), float(_seed_means(system, metric).mean()), comparison, p_value
        )
        for (metric, comparison), p_value in zip(comparisons.items(), adjusted, strict=True)
    }


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of tests, adjusted for their number (Benjamini and Hochberg 1995).

    Calling those below q significant keeps the expected share of false ones among them below q.
    """
    if not len(p_values):
        return []
    from scipy.stats import false_discovery_control

    return [float(p_value) for p_value in false_discovery_control(p_values, method="bh")]


def _p_value(first: np.ndarray, second: np.ndarray, rng: np.random.Generator) -> float:
    from scipy.stats import permutation_test

    test = permutation_test(
        (second, first),
        lambda left, right, axis: np.mean(left - right, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=N_PERMUTATIONS,
        batch=_AT_ONCE,
        rng=rng,
    )
    return float(test.pvalue)


def _sums(values: np.ndarray, clusters: np.ndarray) -> np.ndarray:
    """Return the sum of the values of each cluster, (clusters,) float64."""
    return np.bincount(np.unique(clusters, return_inverse=True)[1], values)


def _seed_means(seeds: Sequence[QuestionMetrics], metric: str) -> np.ndarray:
    if not seeds:
        raise ValueError("no seeds; give at least one")
    counts = sorted({len(seed) for seed in seeds})
    if len(counts) > 1:
        raise ValueError(f"seeds with {counts[0]} and {counts[-1]} questions; evaluate all on the same questions")
    # Rounded, since equal seeds in another order would else differ in the last bit, which a test can take for a gain.
    means: np.ndarray = np.mean([seed[metric] for seed in seeds], axis=0)  # (questions,)
    return means.round(12)
