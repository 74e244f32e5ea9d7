import pytest

from statgraph.errors import RunError
from statgraph.systems.updating.run_copy import changed_run


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
