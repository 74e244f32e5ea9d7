from rich.console import Console

from statgraph.evaluation.report import Report, Stratum
from statgraph.evaluation.report_table import report_table
from statgraph.evaluation.significance import Estimate


def test_table_shows_percent_with_the_interval_and_a_dash_where_there_is_none():
    strata = {"all": Stratum(161, {"R@100": Estimate(0.6461, 0.58, 0.709)}), "seen": Stratum(0, {})}
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(report_table(Report("test", strata)))
    lines = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capture.get().splitlines()]
    assert ["R@100", "64.6 [58.0, 70.9]", "-"] in lines
    assert "test split, mean in % [95% interval]" in capture.get()
    assert "all (n = 161)" in capture.get()
