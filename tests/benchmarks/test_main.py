"""That every measure can be run: `make bench` is run by hand, so nothing else would notice that one no longer can."""

import sys

import pytest
import torch

from benchmarks import settings as benchmark_settings
from benchmarks.__main__ import WITHIN, main
from benchmarks.measures import on_gpu
from benchmarks.measures.query import rows_of
from benchmarks.registry import MEASURES, OF_A_RUN, WHEN_NAMED, measure_named
from benchmarks.settings import Settings
from statgraph.errors import RunError
from statgraph.law.catalogue import sample_folder


@pytest.mark.parametrize("name", MEASURES)
def test_every_measure_can_be_imported(name):
    assert callable(measure_named(name))
    assert {*OF_A_RUN, *WHEN_NAMED} <= {*MEASURES}


@pytest.mark.parametrize("name", ["graph_building", "query", "updating"])
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
    monkeypatch.setenv(WITHIN, "1")
    assert main() == 1
    assert capsys.readouterr().err.startswith("Error: nowhere: no such corpus folder; ")


def test_a_run_of_another_commit_is_refused_or_marked(sample_run, monkeypatch):
    monkeypatch.setattr(benchmark_settings, "commit", lambda: "1234567")
    with pytest.raises(RunError, match="not by the present commit 1234567"):
        Settings(sample_folder(), sample_run.folder).corpus_and_run()
    assert Settings(sample_folder(), sample_run.folder, any_commit=True).corpus_and_run()[1] == sample_run.folder


def test_rows_hold_by_speed_and_by_quality():
    time, rival = rows_of("one", [0.004, 0.006, 0.02], [0.012, 0.03, 0.02], 0.99, 50.0, 50.4)
    assert (time.reached, time.holds) == ("6 ms [4 to 20]", True)
    assert (rival.reached, rival.holds) == ("3.0 times [1.0 to 5.0]", True)
    assert rows_of("one", [0.011] * 3, [0.01] * 3, 1.0, 50.0, 50.0)[0].holds is False
    assert rows_of("one", [0.001] * 3, [0.01] * 3, 1.0, 49.4, 50.0)[0].holds is False


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_product_is_timed_until_it_is_there():
    assert 1e10 < on_gpu._rate(torch.device("cuda"), quick=False) < 1e16
