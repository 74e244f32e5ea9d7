import pytest

from benchmarks.command_peak import CommandPeak
from benchmarks.measures.step_memory import row_of


@pytest.mark.parametrize(("peak_mib", "holds"), [(4095, True), (4096, False)])
def test_a_command_holds_below_what_was_asked(peak_mib, holds):
    row = row_of("`train`", CommandPeak(61.24, peak_mib), asked_mib=4096)
    assert (row.asked, row.reached, row.holds) == ("under 4 GiB", f"{peak_mib:,} MiB, 61.2 s", holds)


def test_nothing_holds_where_nothing_was_asked():
    row = row_of("`search`", CommandPeak(0.5, 300), asked_mib=None)
    assert (row.asked, row.holds) == ("", None)
