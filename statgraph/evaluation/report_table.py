"""A report as a table for the terminal."""

from __future__ import annotations

from statgraph.evaluation.report import Report, Stratum

ABSENT = "-"


def report_table(report: Report):
    """Return a `rich.table.Table`: a row a metric, a column a stratum, in percent with the interval in brackets."""
    from rich.table import Table

    table = Table(title=f"{report.split} split, mean in % [{report.confidence:.0%} interval]")
    table.add_column("metric")
    for name, stratum in report.strata.items():
        table.add_column(f"{name} (n = {stratum.n_questions})", justify="right")
    metrics = list(dict.fromkeys(metric for stratum in report.strata.values() for metric in stratum.metrics))
    for metric in metrics:
        table.add_row(metric, *(_cell(stratum, metric) for stratum in report.strata.values()))
    return table


def _cell(stratum: Stratum, metric: str) -> str:
    if metric not in stratum.metrics:
        return ABSENT
    estimate = stratum.metrics[metric]
    # rich reads "[...]" as markup unless the bracket is escaped.
    return f"{100 * estimate.mean:.1f} \\[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"
