"""What an evaluation found: every metric in every stratum, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from statgraph.errors import RunError
from statgraph.evaluation.question_metrics import QuestionMetrics
from statgraph.evaluation.significance import CONFIDENCE, Estimate, mean_estimate


@dataclass(frozen=True)
class Stratum:
    """The metrics of a part of the questions by name; none where it has no question."""

    n_questions: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True)
class Report:
    """The metrics of one split: over all questions, and in each stratum."""

    split: str
    strata: Mapping[str, Stratum]
    confidence: float = CONFIDENCE

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, object]) -> Report:
        """Return the report that `to_dict` saved.

        Raises:
            RunError: if a part is missing or has another shape.
        """
        try:
            strata = {
                name: Stratum(
                    int(stratum["n_questions"]),
                    {metric: _estimate(values) for metric, values in stratum["metrics"].items()},
                )
                for name, stratum in saved["strata"].items()
            }
            return cls(str(saved["split"]), strata, float(saved["confidence"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise RunError(f"report: not as 'statgraph evaluate' writes it ({error}); evaluate the run again") from None


def evaluation_report(
    metrics: QuestionMetrics, masks: Mapping[str, np.ndarray], *, split: str, rng: np.random.Generator
) -> Report:
    """Return the report of the questions' metrics in each stratum.

    Args:
        metrics: of every question of the split.
        masks: stratum name -> (questions,) bool, as `statgraph.evaluation.strata.strata_masks` returns them.
        split: which split the questions are.
        rng: draws the bootstrap's resamples.
    """
    strata = {}
    for name, mask in masks.items():
        part = metrics.where(mask)
        estimates = {metric: mean_estimate(values, rng) for metric, values in part.values.items() if len(values)}
        strata[name] = Stratum(len(part), estimates)
    return Report(split, strata)


def _estimate(saved: Mapping[str, float]) -> Estimate:
    return Estimate(float(saved["mean"]), float(saved["low"]), float(saved["high"]))
