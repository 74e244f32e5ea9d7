import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError
from safetensors.numpy import save_file

from statgraph import artifacts
from statgraph.artifacts import (
    held_folder,
    refused_write_named,
    replaced_file,
    replaced_folder,
    stamp_newest,
    write_json,
)
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
def test_an_error_leaves_what_was_there(target, tmp_path, error):
    def fail() -> None:
        with replaced_folder(target) as folder, replaced_file(target / "version") as file:
            (folder / "version").write_text("half")
            file.write_text("half")
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


KILLED_IN_THE_BLOCK = """
with replaced_folder(target) as staging:
    (staging / "version").write_text("half")
    os._exit(9)
"""
KILLED_BETWEEN_THE_RENAMES = """
from statgraph import artifacts
rename, calls = os.rename, []
def counted(source, destination):
    calls.append(source)
    os._exit(9) if len(calls) == 2 else rename(source, destination)
os.rename = counted
with replaced_folder(target) as staging:
    (staging / "version").write_text("new")
"""


KILLED_AFTER_THE_RENAMES = KILLED_BETWEEN_THE_RENAMES.replace(
    "os._exit(9) if len(calls) == 2 else rename(source, destination)",
    "rename(source, destination); len(calls) == 2 and os._exit(9)",
)


def run_killed(code: str, target: Path) -> None:
    start = "import os, sys; from pathlib import Path; from statgraph.artifacts import replaced_folder\n"
    command = [sys.executable, "-c", f"{start}target = Path(sys.argv[1])\n{code}", str(target)]
    assert subprocess.run(command, cwd=REPO, timeout=60).returncode == 9


@pytest.mark.parametrize(
    ("code", "left"),
    [
        (KILLED_IN_THE_BLOCK, {"version": "old"}),
        (KILLED_BETWEEN_THE_RENAMES, {}),
        (KILLED_AFTER_THE_RENAMES, {"version": "new"}),
    ],
    ids=["in the block", "between the renames", "after the renames"],
)
def test_a_kill_loses_nothing_and_the_next_removes_what_it_left(target, tmp_path, code, left):
    run_killed(code, target)

    assert tree(target) == left
    if not left:
        assert tree(artifacts.retired(target)) == {"version": "old"}
    fill(target)
    artifacts.remove_abandoned(target)
    assert tree(tmp_path) == {"out/version": "new"}


def write_one(place: Path) -> None:
    write_json(place, {"version": "new"})


HELD = """
with replaced_folder(target) as staging:
    (staging / "version").write_text("half")
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("write", [write_one, fill])
def test_what_a_kill_left_is_removed_by_the_next_and_what_is_being_written_stays(tmp_path, write):
    start = "import sys; from pathlib import Path; from statgraph.artifacts import replaced_folder\n"
    command = [sys.executable, "-c", f"{start}target = Path(sys.argv[1])\n{HELD}", str(tmp_path / "out")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, cwd=REPO, **pipes) as killed, subprocess.Popen(command, cwd=REPO, **pipes) as alive:
        assert (killed.stdout.readline(), alive.stdout.readline()) == (b"held\n", b"held\n")
        killed.kill()
        killed.wait()
        write(tmp_path / "out")
        assert len(list(tmp_path.iterdir())) == 2
        alive.stdin.close()
    assert tree(tmp_path) == {"out/version": "half"}


def test_a_folder_that_is_taken_for_abandoned_before_it_is_held_is_made_again(tmp_path, monkeypatch):
    locked, taken = artifacts.locked, []

    def late(descriptor, *, wait=False):
        if wait and not taken:
            taken.extend(tmp_path.glob(".out-*"))
            taken[0].rmdir()
        return locked(descriptor, wait=wait)

    monkeypatch.setattr(artifacts, "locked", late)
    fill(tmp_path / "out")
    assert tree(tmp_path) == {"out/version": "new"}
    assert len(taken) == 1


def test_a_folder_is_removed_with_what_an_earlier_kill_left_of_it(target, tmp_path):
    (tmp_path / ".out-0123abcd").mkdir()
    artifacts.remove_folder(target)
    artifacts.remove_folder(target)
    assert list(tmp_path.iterdir()) == []


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


@pytest.mark.parametrize(
    "header", [b"{'descr': '<i8', 'shape': (3,", b"{'shape': (9999999999999,)}", b"\xff", b"[" * 300]
)
def test_a_damaged_header_of_an_array_is_refused_whatever_numpy_raises(tmp_path, header):
    path = tmp_path / "array.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    with pytest.raises(RunError, match=r"array\.npy: not readable"):
        artifacts.read_array(path, (3,), "int64", remedy="train the run again")


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
        RuntimeError("write error in out/index.faiss: 4051 != 100000 (No space left on device)"),  # FAISS
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_full_disk_is_named_whoever_writes(tmp_path, monkeypatch, write, error):
    room(monkeypatch, 4096)
    with pytest.raises(OSError, match="No space left") as raised, write(tmp_path / "new" / "out"):
        raise error

    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(tmp_path / "new" / "out"))
    assert list((tmp_path / "new").iterdir()) == []


def test_a_disk_that_is_full_indeed(tmp_path, monkeypatch):
    (tmp_path / "out").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as raised, refused_write_named(tmp_path / "out"):
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


def test_a_disk_that_is_full_in_the_end_is_refused_though_nobody_raised(tmp_path, monkeypatch):
    def fill() -> None:
        with replaced_folder(tmp_path / "out") as staging:
            np.save(staging / "array.npy", np.zeros(3), allow_pickle=False)
            room(monkeypatch, 0)

    with pytest.raises(OSError, match="No space left") as raised:
        fill()
    assert (raised.value.errno, raised.value.filename) == (errno.ENOSPC, str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_made_to_be_held_goes_if_it_stays_empty(tmp_path):
    with held_folder(tmp_path / "a" / "out"):
        assert (tmp_path / "a" / "out").is_dir()
    assert list((tmp_path / "a").iterdir()) == []
    with held_folder(tmp_path / "out"):
        (tmp_path / "out" / "file").touch()
    assert (tmp_path / "out" / "file").is_file()


def test_what_is_written_last_is_the_newest_though_the_clock_was_put_back(tmp_path):
    paths = [tmp_path / name for name in "abc"]
    for path, seconds in zip(paths, (10, 4_000_000_000, 20), strict=True):
        path.touch()
        os.utime(path, (seconds, seconds))
    stamp_newest(paths[2], [*paths, tmp_path / "gone"])
    assert paths[2].stat().st_mtime == 4_000_000_001
    stamp_newest(paths[2], paths)
    assert paths[2].stat().st_mtime == 4_000_000_001
