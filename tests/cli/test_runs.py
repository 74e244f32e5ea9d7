import io
import json
import os
import re
import shutil

import pytest


@pytest.fixture
def two_runs(tmp_path, train_town, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, time in (("new", 2e9), ("old", 1e9)):
        shutil.copytree(train_town("bm25"), tmp_path / "runs" / name)
        os.utime(tmp_path / "runs" / name / "manifest.json", (time, time))


def test_runs_are_listed(run_here, ran, two_runs):
    done = ran("runs")
    header, new, old = done.splitlines()
    assert header.split() == [
        "run",
        "corpus",
        "articles",
        "questions",
        "system",
        "finished",
        "quality",
        "alone",
        "shared",
    ]
    assert re.fullmatch(
        r"new  town    16        8          bm25    2033-05-18 \d\d:33  \d+\.\d +0\.\d MB  0\.0 MB", new
    )
    assert old.startswith("old  town ")
    listed = json.loads(run_here("runs", "--json").stdout)
    assert {(run["name"], run["corpus"], run["articles"], run["system"]) for run in listed} == {
        ("new", "town", 16, "bm25"),
        ("old", "town", 16, "bm25"),
    }


def test_without_runs_the_remedy_is_named(run_here, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run_here("runs")
    assert (done.returncode, done.stdout) == (0, "No finished run under runs/; train one with 'statgraph train'\n")


def test_one_run_is_shown(run_here, two_runs):
    lines = run_here("runs", "show", "new").stdout.splitlines()
    assert lines[:2] == ["name          new", "corpus        town"]
    assert "shared_bytes  0.0 MB" in lines
    shown = json.loads(run_here("runs", "show", "new", "--json").stdout)
    assert (shown["name"], shown["manifest"]["seed"]) == ("new", 0)
    done = run_here("runs", "show", "gone")
    assert (done.returncode, done.stderr) == (
        1,
        "Error: gone: no such run folder; train one with 'statgraph train'\n",
    )


def test_a_run_is_removed_once_asked(run_here, two_runs, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert run_here("runs", "remove", "new").returncode == 130
    assert (tmp_path / "runs" / "new").is_dir()
    done = run_here("runs", "remove", "new", "--yes")
    assert (done.returncode, done.stdout) == (0, "Removed runs/new\n")
    assert not (tmp_path / "runs" / "new").exists()


def test_a_search_names_the_newest_run_but_not_one_that_was_named(run_here, two_runs):
    done = run_here("search", "Who taxes my fences?", "--json")
    assert done.stderr == "The newest run answers: runs/new; 'statgraph runs' lists the others\n"
    assert json.loads(done.stdout)
    assert run_here("search", "Who taxes my fences?", "--run", "runs/new").stderr == ""
