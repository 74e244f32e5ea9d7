"""That every measure can be run: `make bench` is run by hand, so nothing else would notice that one no longer can."""

import pytest
from click.testing import CliRunner

from benchmarks.__main__ import WHEN_NAMED, main, measure_named
from benchmarks.measuring import Settings
from benchmarks.results import MEASURES, TOOLS
from statgraph.law.catalogue import sample_folder


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_can_be_imported(name):
    assert callable(measure_named(name))
    assert {*TOOLS, *WHEN_NAMED} <= {*MEASURES}


@pytest.mark.parametrize("name", ["index_kinds", "query", "updating"])
def test_a_quick_measure_of_the_sample_has_well_formed_rows(name, sample_run):
    rows = measure_named(name)(Settings(sample_folder(), sample_run.folder, quick=True))
    assert rows
    assert all(row.what and row.reached for row in rows)


def test_a_name_or_a_folder_that_does_not_exist_is_one_line():
    refused = CliRunner().invoke(main, ["no-such"])
    assert (refused.exit_code, "'no-such' is not one of 'ensemble_training'" in refused.stderr) == (2, True)
    refused = CliRunner().invoke(main, ["query", "--corpus", "nowhere", "--quick"])
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: nowhere: no such corpus folder; ")
