"""Whether a system differs from a baseline on the same questions, each trained with one or several seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.evaluation.metrics import QuestionMetrics
from statgraph.evaluation.significance import paired_difference

SIGNIFICANCE_LEVEL = 0.05


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


@dataclass(frozen=True, slots=True)
class SeedSummary:
    """The mean over seeds and the sample standard deviation (n - 1), which is None for one seed."""

    mean: float
    sd: float | None
    n_seeds: int


def compare(
    baseline: Sequence[QuestionMetrics], system: Sequence[QuestionMetrics], metric: str, rng: np.random.Generator
) -> Comparison:
    """Return how far a system is from a baseline in one metric; the value of a question is its mean over the seeds.

    Args:
        baseline: the metrics of each seed, over the same questions in the same order.
        system: the same of the other; it may have another number of seeds.
        metric: one of `statgraph.evaluation.metrics.METRICS`.
        rng: draws the resamples.

    Raises:
        ValueError: if one has no seed, or the number of questions differs.
    """
    first, second = _seed_means(baseline, metric), _seed_means(system, metric)
    found = paired_difference(first, second, rng)
    low, high = found.difference.low, found.difference.high
    significant = (low > 0 or high < 0) and found.p_value < SIGNIFICANCE_LEVEL
    return Comparison(found.difference.mean, low, high, found.p_value, significant, len(first))


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


def seed_summary(values: Sequence[float]) -> SeedSummary:
    """Return the mean and spread of one value per seed.

    Raises:
        ValueError: if there is no seed.
    """
    if not len(values):
        raise ValueError("no seeds; give at least one")
    sd = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return SeedSummary(float(np.mean(values)), sd, len(values))


def adjusted_p_values(p_values: Sequence[float]) -> list[float]:
    """Return the p-values of a family of tests, adjusted for their number (Benjamini and Hochberg 1995).

    Calling those below q significant keeps the expected share of false ones among them below q.
    """
    if not len(p_values):
        return []
    from scipy.stats import false_discovery_control

    return [float(p_value) for p_value in false_discovery_control(p_values, method="bh")]


def _seed_means(seeds: Sequence[QuestionMetrics], metric: str) -> np.ndarray:
    if not seeds:
        raise ValueError("no seeds; give at least one")
    counts = sorted({len(seed) for seed in seeds})
    if len(counts) > 1:
        raise ValueError(f"seeds with {counts[0]} and {counts[-1]} questions; evaluate all on the same questions")
    # Rounded, since equal seeds in another order would else differ in the last bit, which a test can take for a gain.
    return np.mean([seed[metric] for seed in seeds], axis=0).round(12)  # (questions,)
