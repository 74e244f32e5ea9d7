"""What the runs of a table come to: each row's mean and spread over seeds, and how far it is from another row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from statgraph.evaluation.significance import Comparison, compare
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult

COMPARED = ("R@100", "R@200", "mAP")
PARTS = ("seen", "unseen")  # compared apart: a graph of training questions could live on memory alone


@dataclass(frozen=True, slots=True)
class SeedSummary:
    """The mean over seeds and the sample standard deviation (n - 1), which is None for one seed."""

    mean: float
    sd: float | None
    n_seeds: int

    @classmethod
    def of(cls, values: Sequence[float]) -> SeedSummary:
        """Return the summary of one value per seed."""
        return cls(float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None, len(values))


@dataclass(frozen=True)
class RowSummary:
    """A row: `results` by seed, `strata[stratum][metric]` over seeds (strata without a question are left out), and
    `differences[stratum][metric]` from the row `against`, over all questions and over each of `PARTS` (none where that
    row has no run yet)."""

    spec: RowSpec
    results: Mapping[int, RunResult]
    strata: Mapping[str, Mapping[str, SeedSummary]]
    n_questions: Mapping[str, int]
    against: str
    differences: Mapping[str, Mapping[str, Comparison]]

    def to_dict(self) -> dict[str, object]:
        """Return JSON values, the runs' own left out."""
        plain = asdict(replace(self, results={}))
        return {
            **plain["spec"],
            "seeds": sorted(self.results),
            "against": self.against,
            "differences": plain["differences"],
            "strata": {
                stratum: {"n_questions": self.n_questions[stratum], "metrics": metrics}
                for stratum, metrics in plain["strata"].items()
            },
        }


def summaries(spec: TableSpec, results: Mapping[str, Mapping[int, RunResult]]) -> list[RowSummary]:
    """Return the rows of a table that have a run, in its order.

    Args:
        results: row name -> seed -> result.
    """
    return [
        _summary(row, spec.against(row), results[row.name], results.get(spec.against(row)) or {})
        for row in spec.rows
        if results.get(row.name)
    ]


def _summary(
    row: RowSpec, against: str, results: Mapping[int, RunResult], others: Mapping[int, RunResult]
) -> RowSummary:
    runs = [results[seed] for seed in sorted(results)]
    counts = {stratum: int(mask.sum()) for stratum, mask in runs[0].metrics.masks.items()}
    measured = runs[0].metrics.metrics.values  # a small corpus lacks some
    strata = {
        stratum: {metric: SeedSummary.of([run.mean(metric, stratum) for run in runs]) for metric in measured}
        for stratum, count in counts.items()
        if count
    }
    differences = {}
    if others:
        baseline = [others[seed] for seed in sorted(others)]
        compared = [metric for metric in COMPARED if metric in measured]
        differences = {
            stratum: {metric: _comparison(baseline, runs, metric, stratum) for metric in compared}
            for stratum in ("all", *PARTS)
            if counts.get(stratum)
        }
    return RowSummary(row, dict(results), strata, counts, against, differences)


def _comparison(baseline: Sequence[RunResult], runs: Sequence[RunResult], metric: str, stratum: str) -> Comparison:
    # A generator for each, so that a row's interval does not depend on which other rows there are.
    return compare(
        [run.metrics.metrics.where(run.metrics.masks[stratum]) for run in baseline],
        [run.metrics.metrics.where(run.metrics.masks[stratum]) for run in runs],
        metric,
        np.random.default_rng(0),
    )
