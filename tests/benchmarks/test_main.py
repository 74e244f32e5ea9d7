"""That every measure can be run: `make bench` is run by hand, so nothing else would notice that one no longer can."""

import sys

import pytest

from benchmarks.__main__ import MEASURES, OF_A_RUN, WHEN_NAMED, main, measure_named
from benchmarks.measuring import Settings
from statgraph.law.catalogue import sample_folder


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_can_be_imported(name):
    assert callable(measure_named(name))
    assert {*OF_A_RUN, *WHEN_NAMED} <= {*MEASURES}


@pytest.mark.parametrize("name", ["index_kinds", "query", "updating"])
def test_a_quick_measure_of_the_sample_has_well_formed_rows(name, sample_run):
    rows = measure_named(name)(Settings(sample_folder(), sample_run.folder, quick=True))
    for row in rows:
        assert row.what
        assert row.reached
        assert row.holds in (True, False, None)
        assert (row.holds is None) == (not row.asked)


def test_a_name_or_a_folder_that_does_not_exist_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["benchmarks", "no-such"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "error: no measure 'no-such'; choose from " in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["benchmarks", "query", "--corpus", "nowhere", "--quick"])
    assert main() == 1
    assert capsys.readouterr().err.startswith("Error: nowhere: no such corpus folder; ")
