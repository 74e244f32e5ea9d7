import dataclasses

import pytest

from benchmarks import settings as benchmark_settings
from benchmarks.rows import Row
from benchmarks.settings import Settings
from statgraph.corpus.catalogue import sample_folder
from statgraph.errors import RunError

ROW = Row("speed", "", "", "1 s", None, note="Quiet.")


@pytest.fixture
def settings(sample_run):
    return Settings(sample_folder(), sample_run.folder)


def test_a_run_of_the_present_commit_is_measured(settings, sample_run):
    corpus, run = settings.corpus_and_run()
    assert (corpus.name, run) == ("valmere", sample_run.folder)
    assert settings.marked([ROW]) == [ROW]


@pytest.mark.parametrize("suffix", ["-dirty", "0"])
def test_a_run_of_another_commit_is_refused(settings, sample_run, monkeypatch, suffix):
    present = f"{sample_run.commit}{suffix}"
    monkeypatch.setattr(benchmark_settings, "commit", lambda: present)
    with pytest.raises(RunError, match=f"not by the present commit {present}; train it again with 'statgraph train"):
        settings.corpus_and_run()


def test_any_commit_marks_the_rows_instead(settings, sample_run, monkeypatch):
    monkeypatch.setattr(benchmark_settings, "commit", lambda: "1234567")
    marked = dataclasses.replace(settings, any_commit=True)
    assert marked.corpus_and_run()[1] == sample_run.folder
    (row,) = marked.marked([ROW])
    assert row.note == f"The run was trained by {sample_run.commit}. Quiet."
