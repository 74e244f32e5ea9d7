import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors import SafetensorError

from statgraph.artifacts import replaced_file, replaced_folder
from statgraph.disk import held_folder, refused_write_named, stamp_newest
from statgraph.errors import RunError

REPO = Path(__file__).parents[1]


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


HOLD = """
import sys
from pathlib import Path
from statgraph.disk import held_folder
with held_folder(Path(sys.argv[1])) as free:
    print(free, flush=True)
    sys.stdin.read()
"""


def test_a_folder_is_held_by_one_process_and_by_none_once_it_is_killed(tmp_path):
    folder = tmp_path / "out"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], cwd=REPO, **pipes) as holder:
        assert holder.stdout.readline() == b"True\n"
        with held_folder(folder) as free:
            assert not free
        holder.kill()
    with held_folder(folder) as free:
        assert free


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
