import os

import pytest

from statgraph.errors import RunError
from statgraph.runs import folders as runs
from statgraph.runs.folders import changed_run


@pytest.fixture
def begin(tmp_path):
    """Return a function that makes a run folder under runs/, finished or not, of a given age."""

    def make(name, *, finished, age_s):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        for file_name in ("config.json", "manifest.json")[: 1 + finished]:
            (folder / file_name).write_text("{}")
            os.utime(folder / file_name, (1e9 - age_s, 1e9 - age_s))
        return folder

    return make


def test_newest_run_is_the_one_finished_last_or_of_two_at_once_the_later_name(begin, tmp_path):
    begin("b", finished=True, age_s=30)
    newest = begin("a2", finished=True, age_s=20)
    begin("a1", finished=True, age_s=20)
    begin("c", finished=False, age_s=10)
    assert runs.newest_run(tmp_path / "runs") == newest


def test_a_run_that_ends_after_the_clock_was_put_back_is_the_newest(begin, tmp_path):
    begin("old", finished=True, age_s=-5e9)
    newest = begin("new", finished=True, age_s=0)
    for name in ("config.json", "manifest.json"):
        runs.newest_of_its_name(newest / name)
    assert runs.newest_run(tmp_path / "runs") == newest


def test_newest_unfinished_run_is_the_one_begun_last(begin, tmp_path):
    begin("a", finished=True, age_s=1)
    begin("b", finished=False, age_s=30)
    newest = begin("c", finished=False, age_s=20)
    assert runs.newest_unfinished_run(tmp_path / "runs") == newest


@pytest.mark.parametrize("there", [True, False])
def test_no_run_is_told(tmp_path, there):
    folder = tmp_path / "runs"
    if there:
        folder.mkdir()
    with pytest.raises(RunError, match="no finished run"):
        runs.newest_run(folder)
    with pytest.raises(RunError, match="no unfinished run"):
        runs.newest_unfinished_run(folder)


def test_new_run_folder_is_not_in_use(tmp_path, monkeypatch):
    class Clock:
        @staticmethod
        def now():
            return Clock()

        def __format__(self, _):
            return "20261121-080000"

    monkeypatch.setattr(runs, "datetime", Clock)
    names = []
    for _ in range(3):
        folder = runs.new_run_folder("valmere", "bm25", tmp_path)
        folder.mkdir()
        names.append(folder.name)
    stem = "20261121-080000-valmere-bm25"
    assert names == [stem, f"{stem}-2", f"{stem}-3"]


@pytest.mark.parametrize(
    ("corpus_name", "folder"),
    [
        ("legi-fr", "legi-fr"),
        ("BGB 2.0_neu", "BGB-2.0_neu"),
        ("法律", "法律"),
        ("a/b\\c", "a-b-c"),
        ("../../etc", "etc"),
        ("..", "corpus"),
        ("", "corpus"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_corpus_name_becomes_one_folder(corpus_name, folder):
    assert runs.folder_name(corpus_name) == folder


@pytest.fixture
def run(tmp_path):
    """Return a folder with two files, a folder and a link to it."""
    run = tmp_path / "run"
    (run / "encoder").mkdir(parents=True)
    (run / "checkpoints").mkdir()
    (run / "encoder" / "weights").write_text("w")
    (run / "manifest.json").write_text("old")
    (run / "notes.txt").write_text("mine")
    (run / "linked").symlink_to(run / "encoder")
    return run


def files(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_in_place_what_stays_is_linked_and_what_is_written_is_new(run, tmp_path):
    inode = (run / "encoder" / "weights").stat().st_ino
    with changed_run(run, None, without=["manifest.json"]) as folder:
        assert files(folder) == ["checkpoints", "encoder", "linked", "notes.txt"]
        (folder / "manifest.json").write_text("new")
        assert (run / "manifest.json").read_text() == "old"
    assert (run / "manifest.json").read_text() == "new"
    assert (run / "encoder" / "weights").stat().st_ino == inode
    assert (run / "linked").is_symlink()
    assert files(tmp_path) == ["run"]


def test_after_an_error_the_run_is_as_it_was(run, tmp_path):
    def interrupted() -> None:
        with changed_run(run, None, without=["manifest.json", "notes.txt"]) as folder:
            (folder / "manifest.json").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert files(run) == ["checkpoints", "encoder", "linked", "manifest.json", "notes.txt"]
    assert (run / "manifest.json").read_text() == "old"
    assert files(tmp_path) == ["run"]


def test_two_changes_of_one_run_at_once_are_one(run):
    with changed_run(run, None, without=["manifest.json"]) as folder:
        with pytest.raises(RunError, match="another process"), changed_run(run, None, without=[]):
            pass
        (folder / "manifest.json").write_text("new")
    assert (run / "manifest.json").read_text() == "new"


def test_another_folder_shares_nothing_with_the_run(run, tmp_path):
    out = tmp_path / "deep" / "out"
    with changed_run(run, out, without=["manifest.json"]) as folder:
        (folder / "manifest.json").write_text("new")
    assert files(out) == ["encoder", "linked", "manifest.json", "notes.txt"]
    (out / "encoder" / "weights").write_text("changed")
    (out / "linked" / "weights").write_text("changed")
    assert (run / "encoder" / "weights").read_text() == "w"
    assert (run / "manifest.json").read_text() == "old"


def test_a_link_to_a_run_stays_one(run, tmp_path):
    (tmp_path / "current").symlink_to(run)
    with changed_run(tmp_path / "current", None, without=["manifest.json"]) as folder:
        (folder / "manifest.json").write_text("new")
    assert (tmp_path / "current").is_symlink()
    assert (run / "manifest.json").read_text() == "new"


def test_a_folder_in_use_is_refused(run, tmp_path):
    for out, reason in ((run, "not empty"), (run / "notes.txt", "is a file")):
        with pytest.raises(RunError, match=f"{reason}; choose another --out"), changed_run(run, out, without=[]):
            raise AssertionError("must not come here")
