from pathlib import Path

import pytest

from benchmarks.measures import cold_start
from benchmarks.measures.cold_start import row_of, search_command


@pytest.mark.parametrize(("asked_s", "holds"), [(2.0, True), (1.5, False)])
def test_a_command_holds_below_what_was_asked(asked_s, holds):
    row = row_of("search", [1.0, 1.5, 9.0], asked_s)
    assert (row.asked, row.reached, row.holds) == (f"under {asked_s:g} s", "1.5 s [1 to 9]", holds)


def test_the_search_is_the_command_line_s():
    assert search_command(Path("r"))[1:3] == [str(cold_start.LAUNCHER), "search"]
    assert cold_start.LAUNCHER.is_file()


def test_a_command_that_fails_is_not_timed():
    with pytest.raises(RuntimeError, match=r"no such run folder"):
        cold_start._run(search_command(Path("/no/such/run")))
