import errno
import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from statgraph.artifacts import as_json, full_disk_named, read_json, replaced_file, replaced_folder, write_json
from statgraph.errors import RunError

REPO = Path(__file__).parents[1]


@pytest.fixture
def target(tmp_path) -> Path:
    """Return a folder that holds one file, `version`, with the text "old"."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "version").write_text("old")
    return tmp_path / "out"


def tree(folder: Path) -> dict[str, str]:
    """Return the text of every file under a folder, by its path in there."""
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*")) if path.is_file()}


def fill(target: Path) -> None:
    with replaced_folder(target) as staging:
        (staging / "version").write_text("new")


def test_a_new_folder(tmp_path):
    fill(tmp_path / "deep" / "out")

    assert tree(tmp_path) == {"deep/out/version": "new"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_something_else_in_its_place(tmp_path, kind):
    place = tmp_path / "out"
    if kind == "file":
        place.write_text("a file")
    else:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "elsewhere" / "kept").write_text("kept")
        place.symlink_to(tmp_path / "elsewhere")
    fill(place)

    assert not place.is_symlink()
    assert tree(place) == {"version": "new"}
    assert sorted(path.name for path in tmp_path.iterdir()) == (["out"] if kind == "file" else ["elsewhere", "out"])
    if kind == "link":
        assert tree(tmp_path / "elsewhere") == {"kept": "kept"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_folder(target, tmp_path, error):
    def fail() -> None:
        with replaced_folder(target) as staging:
            (staging / "version").write_text("half")
            raise error

    with pytest.raises(error):
        fail()

    assert tree(tmp_path) == {"out/version": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_until_the_end_the_old_folder_stands(target, tmp_path):
    (target / "other").write_text("old too")
    with replaced_folder(target) as staging:
        (staging / "version").write_text("new")
        assert tree(target) == {"other": "old too", "version": "old"}
        assert list(staging.iterdir()) == [staging / "version"]
        assert staging.name.startswith(".out-")

    assert tree(tmp_path) == {"out/version": "new"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("error", [OSError("no"), KeyboardInterrupt()])
@pytest.mark.parametrize("failing_one", [1, 2])
def test_where_a_rename_fails_the_old_folder_is_there(target, tmp_path, monkeypatch, error, failing_one):
    rename, calls = os.rename, []

    def failing(source, destination):
        calls.append(Path(source).name)
        if len(calls) == failing_one:
            raise error
        rename(source, destination)

    monkeypatch.setattr(os, "rename", failing)
    with pytest.raises(type(error)):
        fill(target)

    assert len(calls) == {1: 1, 2: 3}[failing_one]
    assert tree(tmp_path) == {"out/version": "old"}
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


KILLED_IN_THE_BLOCK = """
with replaced_folder(target) as staging:
    (staging / "version").write_text("half")
    os._exit(9)
"""
KILLED_BETWEEN_THE_RENAMES = """
rename, calls = os.rename, []
def counted(source, destination):
    calls.append(source)
    os._exit(9) if len(calls) == 2 else rename(source, destination)
os.rename = counted
with replaced_folder(target) as staging:
    (staging / "version").write_text("new")
"""


def run_killed(code: str, target: Path) -> None:
    start = "import os, sys; from pathlib import Path; from statgraph.artifacts import replaced_folder\n"
    command = [sys.executable, "-c", f"{start}target = Path(sys.argv[1])\n{code}", str(target)]
    assert subprocess.run(command, cwd=REPO, timeout=60).returncode == 9


def test_a_kill_in_the_block_leaves_the_old_folder(target):
    run_killed(KILLED_IN_THE_BLOCK, target)

    assert tree(target) == {"version": "old"}
    fill(target)
    assert tree(target) == {"version": "new"}


def test_a_kill_between_the_renames_loses_nothing(target, tmp_path):
    run_killed(KILLED_BETWEEN_THE_RENAMES, target)

    (old,) = tmp_path.glob(".out-old-*")
    assert tree(old) == {"version": "old"}
    assert not target.exists()
    fill(target)
    assert tree(target) == {"version": "new"}


@pytest.mark.parametrize("write", [lambda place: write_json(place, {"version": "new"}), fill])
def test_what_a_kill_left_is_removed_once_it_is_a_day_old(tmp_path, write):
    left = [tmp_path / name for name in (".out-0123abcd", ".out-89abcdef", ".out-old-0123abcd", ".other-0123abcd")]
    left[0].write_text("half")
    for folder in left[1:]:
        folder.mkdir()
        (folder / "version").write_text("half")
    fresh = tmp_path / ".out-77777777"
    fresh.write_text("half")
    a_day_ago = time.time() - 24 * 3600 - 1
    for path in left:
        os.utime(path, (a_day_ago, a_day_ago))
    write(tmp_path / "out")

    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".other-0123abcd", ".out-77777777", ".out-old-0123abcd", "out",
    ]  # fmt: skip


@pytest.mark.parametrize("umask", [0o022, 0o027, 0o077, 0o002])
@pytest.mark.parametrize("exists", [True, False])
def test_folders_and_files_follow_the_umask(target, tmp_path, umask, exists):
    place = target if exists else tmp_path / "fresh"
    before = os.umask(umask)
    try:
        fill(place)
        write_json(tmp_path / "a.json", {})
    finally:
        os.umask(before)

    assert stat.S_IMODE(place.stat().st_mode) == 0o777 & ~umask
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o666 & ~umask


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_weights_follow_the_umask_too(tmp_path, umask):
    ours = {"weights": np.zeros(2, dtype=np.float32)}
    kept = tmp_path / "kept.safetensors"
    save_file(ours, kept)
    kept.chmod(0o400)
    before = os.umask(umask)
    try:
        with replaced_folder(tmp_path / "out") as staging:
            (staging / "part").mkdir()
            save_file(ours, staging / "part" / "model.safetensors")
            os.link(kept, staging / "linked.safetensors")
        with replaced_file(tmp_path / "model.safetensors") as staging:
            save_file(ours, staging)
    finally:
        os.umask(before)

    for place in (tmp_path / "out" / "part" / "model.safetensors", tmp_path / "model.safetensors"):
        assert stat.S_IMODE(place.stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE(kept.stat().st_mode) == 0o400


def test_a_file_is_replaced_at_the_end(target):
    with replaced_file(target / "version") as staging:
        staging.write_text("new")
        assert (target / "version").read_text() == "old"

    assert tree(target) == {"version": "new"}


def test_a_file_that_is_not_written_or_an_error_leaves_the_old_one(target):
    def fail() -> None:
        with replaced_file(target / "version") as staging:
            staging.write_text("half")
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        fail()
    with pytest.raises(FileNotFoundError), replaced_file(target / "version"):
        pass

    assert tree(target) == {"version": "old"}


def room(monkeypatch, n_bytes: int) -> None:
    usage = shutil.disk_usage("/")._replace(free=n_bytes)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)


@pytest.mark.parametrize("write", [replaced_file, replaced_folder])
@pytest.mark.parametrize(
    "error",
    [
        OSError("1000000 requested and 262128 written"),  # NumPy
        SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)"),
        RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 704 vs 598"),  # torch
        OSError(errno.ENOSPC, "No space left on device"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_full_disk_is_named_whoever_writes(tmp_path, monkeypatch, write, error):
    def fail() -> None:
        with write(tmp_path / "new" / "out"):
            raise error

    room(monkeypatch, 4096)
    with pytest.raises(OSError, match="No space left") as raised:
        fail()

    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(tmp_path / "new" / "out"))
    assert list((tmp_path / "new").iterdir()) == []


def test_a_disk_that_is_full_indeed(tmp_path, monkeypatch):
    (tmp_path / "out").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as raised, full_disk_named(tmp_path / "out"):
        (tmp_path / "out").write_text("text")
    assert raised.value.filename == str(tmp_path / "out")


@pytest.mark.parametrize(
    ("free", "error"),
    [(1 << 30, RuntimeError("shapes")), (0, FileNotFoundError(errno.ENOENT, "No such file", "x")), (0, RunError("x"))],
    ids=lambda value: type(value).__name__,
)
def test_other_errors_stay_what_they_are(tmp_path, monkeypatch, free, error):
    room(monkeypatch, free)
    with pytest.raises(type(error)) as raised, replaced_file(tmp_path / "out"):
        raise error
    assert raised.value is error


def test_json_there_and_back(tmp_path):
    write_json(tmp_path / "deep" / "a.json", {"é": (1, 2), "b": None})

    assert (tmp_path / "deep" / "a.json").read_text(
        encoding="utf-8"
    ) == '{\n  "é": [\n    1,\n    2\n  ],\n  "b": null\n}\n'
    assert read_json(tmp_path / "deep" / "a.json") == as_json({"é": (1, 2), "b": None}) == {"é": [1, 2], "b": None}
