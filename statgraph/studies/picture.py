"""The picture of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from statgraph.evaluation.plots import bar_chart, line_chart
from statgraph.studies.spec import BARS, TableSpec
from statgraph.studies.summary import RowSummary


def draw_rows(spec: TableSpec, rows: Sequence[RowSummary], path: Path) -> None:
    """Draw the metrics of a table's figure over its rows, in percent; the whiskers are one standard deviation over
    seeds."""
    names = [row.spec.name for row in rows]
    values = {metric: [row.strata["all"][metric] for row in rows] for metric in spec.figure.metrics}
    means = {metric: [100 * value.mean for value in column] for metric, column in values.items()}
    spread = {
        metric: [(100 * (value.mean - (value.sd or 0)), 100 * (value.mean + (value.sd or 0))) for value in column]
        for metric, column in values.items()
    }
    if spec.figure.kind == BARS:
        bar_chart(names, means, spread, path, title=spec.title, y_name="%")
    else:
        places = list(range(1, len(names) + 1))
        lines = {metric: (places, column) for metric, column in means.items()}
        line_chart(lines, path, errors=spread, title=spec.title, x_name="row of the table", y_name="%")
