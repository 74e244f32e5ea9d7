"""What an evaluation leaves: its report, the tables for the terminal, and rankings as a TREC run, which trec_eval,
ir_measures and their like read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

import numpy as np

from statgraph.artifacts import reading
from statgraph.evaluation.metrics import QUALITY, QuestionMetrics, left_out_note, quality_cut
from statgraph.evaluation.significance import (
    CONFIDENCE,
    SIGNIFICANCE_LEVEL,
    Comparison,
    Estimate,
    MetricComparison,
    mean_estimate,
)
from statgraph.evaluation.strata import ALL, STRATA, TOPIC
from statgraph.law.query import Ranked

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class Stratum:
    """The metrics of a part of the questions by name; empty where it has no question."""

    n_questions: int
    metrics: Mapping[str, Estimate]


@dataclass(frozen=True)
class Report:
    """The metrics of one split of a corpus of `n_articles`: over all questions, in each stratum, and with each article
    counted once (`article_means`)."""

    split: str
    strata: Mapping[str, Stratum]
    n_articles: int
    confidence: float = CONFIDENCE
    by_article: Mapping[str, float] = field(default_factory=dict)

    @property
    def metrics(self) -> dict[str, float]:
        """Return the mean of each metric over all questions, from 0 to 1, as in `report.metrics["R@100"]`."""
        stratum = self.strata.get(ALL)
        return {name: estimate.mean for name, estimate in stratum.metrics.items()} if stratum else {}

    def to_dict(self) -> dict[str, object]:
        """Return the report as JSON values."""
        return asdict(self)

    def notes(self) -> list[str]:
        """Return lines on the metrics that the corpus is too small for, and on quality."""
        quality = f"{QUALITY}: mean of mAP and R@{quality_cut(self.n_articles)}; training and tuning choose by it"
        means = ", ".join(f"{name} {100 * mean:.1f}" for name, mean in self.by_article.items())
        once = means and f"with each article counted once: {means}"
        return [*filter(None, [once, left_out_note(self.n_articles)]), quality]

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Report:
        """Return the report that `to_dict` saved.

        Raises:
            RunError: if a part is missing or has another shape.
        """
        with reading("report", "evaluate the run again"):
            strata = {
                name: Stratum(
                    int(stratum["n_questions"]),
                    {
                        metric: Estimate(*(float(values[end]) for end in ("mean", "low", "high")))
                        for metric, values in stratum["metrics"].items()
                    },
                )
                for name, stratum in saved["strata"].items()
            }
            by_article = {str(name): float(mean) for name, mean in saved.get("by_article", {}).items()}
            return cls(str(saved["split"]), strata, int(saved["n_articles"]), float(saved["confidence"]), by_article)


def evaluation_report(
    metrics: QuestionMetrics,
    masks: Mapping[str, np.ndarray],
    *,
    split: str,
    n_articles: int,
    by_article: Mapping[str, float],
    rng: np.random.Generator,
) -> Report:
    """Return the report of the questions' metrics in each stratum of `strata_masks`, (questions,) bool each; `rng`
    draws the bootstrap's resamples."""
    strata = {}
    for name, mask in masks.items():
        part = metrics.where(mask)
        estimates = {metric: mean_estimate(values, rng) for metric, values in part.values.items() if len(values)}
        strata[name] = Stratum(len(part), estimates)
    return Report(split, strata, n_articles, by_article=by_article)


ABSENT = "-"
STRATA_METRICS = ("S@3", "R@10", "R@100", "mAP")
# Four intervals a row do not fit in 80 columns.
INTERVAL_METRIC = "mAP"
MIN_TOPIC_QUESTIONS = 5
_LEAST_STEP = np.float32(1e-30)  # between scores of 0: readers take what is nearer to 0 for 0


def report_table(report: Report) -> Table:
    """Return a `rich.table.Table`: a row a metric, a column for each of `STRATA`, in percent with the interval."""
    from rich.table import Table

    strata = {name: report.strata[name] for name in STRATA if name in report.strata}
    table = Table(title=f"{report.split} split, mean in % \\[{report.confidence:.0%} interval]")
    table.add_column("metric")
    for name, stratum in strata.items():
        table.add_column(f"{name} (n = {stratum.n_questions})", justify="right")
    for metric in dict.fromkeys(metric for stratum in strata.values() for metric in stratum.metrics):
        table.add_row(metric, *(_cell(stratum, metric) for stratum in strata.values()))
    return table


def strata_table(report: Report) -> Table | None:
    """Return a `rich.table.Table` with a row for each stratum beyond `STRATA`, or None if there are none to show.

    Topics of fewer than `MIN_TOPIC_QUESTIONS` questions are left out, and counted below the table.
    """
    from rich.markup import escape
    from rich.table import Table

    others = {name: stratum for name, stratum in report.strata.items() if name not in STRATA}
    shown = {
        name: stratum
        for name, stratum in others.items()
        if not name.startswith(TOPIC) or stratum.n_questions >= MIN_TOPIC_QUESTIONS
    }
    if not shown:
        return None
    n_small = len(others) - len(shown)
    caption = f"{n_small} smaller topic{'s' if n_small > 1 else ''} in --json" if n_small else None
    table = Table(title=f"{report.split} split by stratum", caption=caption)
    table.add_column("stratum")
    metrics = [metric for metric in STRATA_METRICS if any(metric in stratum.metrics for stratum in shown.values())]
    for name in ("n", *metrics):
        table.add_column(name, justify="right", no_wrap=True)
    for name, stratum in shown.items():
        cells = (_cell(stratum, metric, interval=metric == INTERVAL_METRIC) for metric in metrics)
        table.add_row(escape(name), str(stratum.n_questions), *cells)
    return table


def comparison_table(comparisons: Mapping[str, MetricComparison], baseline: str) -> Table:
    """Return a `rich.table.Table`: a row a metric, with both means in percent and their difference in points."""
    from rich.markup import escape
    from rich.table import Table

    starred = any(compared.comparison.significant for compared in comparisons.values())
    table = Table(
        title=f"difference to {escape(baseline)}, in points \\[{CONFIDENCE:.0%} interval]",
        caption=f"* interval excludes 0 and p < {SIGNIFICANCE_LEVEL}" if starred else None,
    )
    table.add_column("metric")
    for name in ("that run", "this run", "difference", "p", "adjusted p"):
        table.add_column(name, justify="right")
    for metric, compared in comparisons.items():
        difference = compared.comparison
        table.add_row(
            metric,
            f"{100 * compared.baseline_mean:.1f}",
            f"{100 * compared.system_mean:.1f}",
            _difference(difference),
            f"{difference.p_value:.4f}{'*' if difference.significant else ' '}",
            f"{compared.adjusted_p_value:.4f}",
        )
    return table


def strata_comparison_table(strata: Mapping[str, Mapping[str, MetricComparison]]) -> Table | None:
    """Return a `rich.table.Table` of the differences in each stratum, in points, or None where there is no stratum."""
    from rich.table import Table

    if not strata:
        return None
    table = Table(title="difference by stratum, in points")
    table.add_column("stratum")
    metrics = list(next(iter(strata.values())))
    for name in ("n", *metrics):
        table.add_column(name, justify="right", no_wrap=True)
    for name, compared in strata.items():
        cells = (_difference(compared[metric].comparison, interval=metric == INTERVAL_METRIC) for metric in metrics)
        table.add_row(name, str(compared[metrics[0]].comparison.n_questions), *cells)
    return table


def _difference(compared: Comparison, *, interval: bool = True) -> str:
    ends = f" \\[{100 * compared.low:+.1f}, {100 * compared.high:+.1f}]" if interval else ""
    return f"{100 * compared.difference:+.1f}{ends}"


def _cell(stratum: Stratum, metric: str, *, interval: bool = True) -> str:
    if metric not in stratum.metrics:
        return ABSENT
    estimate = stratum.metrics[metric]
    mean = f"{100 * estimate.mean:.1f}"
    # rich reads "[...]" as markup unless the bracket is escaped.
    return f"{mean} \\[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]" if interval else mean


def write_trec_run(
    stream: TextIO,
    question_ids: Sequence[str],
    rankings: Sequence[Ranked],
    article_ids: Sequence[str],
) -> None:
    """Write one line per hit, `question-id Q0 article-id rank score tag`; ranks start at 1, ids are `trec_id`s.

    Scores keep nine digits, enough to distinguish any two float32: trec_eval sorts by score and disregards the rank.
    It would order equal scores by id, so that they are written a float32 apart, in the order of the ranking.
    `article_ids` has the id of each article row.

    Raises:
        ValueError: if the counts differ.
    """
    for question_id, (rows, scores) in zip(question_ids, rankings, strict=True):
        for rank, (row, score) in enumerate(zip(rows, _falling(scores), strict=True), start=1):
            stream.write(f"{trec_id(question_id)} Q0 {trec_id(article_ids[row])} {rank} {score:.9g} statgraph\n")


def write_trec_qrels(stream: TextIO, labels: Mapping[str, Sequence[str]]) -> None:
    """Write one line per label, `question-id 0 article-id 1`, with the ids spelt as in a TREC run."""
    for question_id, article_ids in labels.items():
        for article_id in article_ids:
            stream.write(f"{trec_id(question_id)} 0 {trec_id(article_id)} 1\n")


def trec_id(identifier: str) -> str:
    """Return an id as TREC's files have it: white space, which would end its column, as in addresses: "Art.%2036"."""
    return re.sub(r"\s", lambda match: quote(match[0]), identifier)


def _falling(scores: np.ndarray) -> Iterator[np.float32]:
    """Yield scores that fall strictly, each lowered as little as float32 can where it is not below the one before."""
    before = np.float32(np.inf)
    for score in scores:
        lower = min(np.nextafter(before, np.float32(-np.inf)), before - _LEAST_STEP)
        before = min(np.float32(score), lower)
        yield before
