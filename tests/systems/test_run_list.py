import os
import shutil

import pytest

from statgraph.cache import SHARED_BYTES, cache_in, cache_root, share_files
from statgraph.errors import RunError
from statgraph.runs.folders import held_run, served_run
from statgraph.systems.run_list import RunFacts, listed_runs, named_run, remove_run


@pytest.fixture
def runs(tmp_path, train_town):
    """Return runs/ with `new` and `old`, of BM25, and `begun`, which is unfinished."""
    folder = train_town("bm25")
    for name, age_s in (("old", 60), ("new", 0), ("begun", 120)):
        shutil.copytree(folder, tmp_path / "runs" / name)
        for file in ("config.json", "manifest.json"):
            os.utime(tmp_path / "runs" / name / file, (1.7e9 - age_s, 1.7e9 - age_s))
    (tmp_path / "runs" / "begun" / "manifest.json").unlink()
    (tmp_path / "runs" / "notes").mkdir()
    with cache_in(tmp_path / "cache"):
        yield tmp_path / "runs"


def test_runs_are_listed_newest_first_and_an_unfinished_one_by_why(runs):
    new, old, begun = listed_runs(runs)
    assert (new.name, old.name) == ("new", "old")
    assert (new.corpus, new.language, new.articles, new.system, new.updates) == ("town", "en", 16, "bm25", 0)
    assert new.finished > old.finished
    assert 0 < new.quality <= 100
    assert str(begun).startswith(f"{runs / 'begun'}: an unfinished run")


def test_without_a_report_there_is_no_quality(runs):
    (runs / "new" / "report.json").unlink()
    assert RunFacts.of(runs / "new").quality is None
    (runs / "old" / "report.json").write_text("{}")
    with pytest.raises(RunError, match="report"):
        RunFacts.of(runs / "old")


def test_what_is_shared_is_counted_apart_and_goes_with_the_last(runs):
    before = RunFacts.of(runs / "new")
    for name in ("new", "old"):
        (runs / name / "weights").write_bytes(bytes(SHARED_BYTES))
        share_files(runs / name)
    facts = RunFacts.of(runs / "new")
    assert (facts.own_bytes, facts.shared_bytes) == (before.own_bytes, SHARED_BYTES)
    remove_run(runs / "new")
    assert len(list((cache_root() / "files").iterdir())) == 1
    last = RunFacts.of(runs / "old")  # no other run has the file: removing this one frees it
    assert (last.own_bytes - SHARED_BYTES, last.shared_bytes) == (before.own_bytes, 0)
    remove_run(runs / "old")
    assert list((cache_root() / "files").iterdir()) == []
    assert sorted(path.name for path in runs.iterdir()) == ["begun", "notes"]


def test_a_run_is_named_by_its_name_or_its_path(runs, tmp_path):
    assert named_run("new", runs) == runs / "new"
    assert named_run(str(tmp_path / "elsewhere"), runs) == tmp_path / "elsewhere"


def test_only_a_run_that_nobody_uses_is_removed(runs):
    with pytest.raises(RunError, match="notes: not a run folder"):
        remove_run(runs / "notes")
    with pytest.raises(RunError, match="gone: no such run folder"):
        remove_run(runs / "gone")
    (runs / "current").symlink_to("new")
    with pytest.raises(RunError, match=r"current: a link to .*new; name that run"):
        remove_run(runs / "current")
    with served_run(runs / "new"), served_run(runs / "new"), pytest.raises(RunError, match="serve' answers from it"):
        remove_run(runs / "new")
    with held_run(runs / "new"), pytest.raises(RunError, match="another process changes it"):
        remove_run(runs / "new")
    remove_run(runs / "new")
    remove_run(runs / "begun")
    assert sorted(path.name for path in runs.iterdir()) == ["current", "notes", "old"]
