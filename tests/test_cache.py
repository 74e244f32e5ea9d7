import os
import threading
from pathlib import Path

import pytest

from statgraph.artifacts import key_of
from statgraph.cache import (
    SHARED_BYTES,
    CacheUsage,
    cache_in,
    cache_root,
    cache_usage,
    cached,
    clear_cache,
    place_of,
    remove_unshared,
    share_files,
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path):
    with cache_in(tmp_path / "cache"):
        yield


def test_the_cache_is_where_the_environment_says_or_under_the_home(monkeypatch, tmp_path):
    assert cache_root() == tmp_path / "cache"
    for unset in (lambda: monkeypatch.setenv("STATGRAPH_CACHE", ""), lambda: monkeypatch.delenv("STATGRAPH_CACHE")):
        unset()
        assert cache_root() == Path.home() / ".cache" / "statgraph"


def write(text):
    return lambda folder: (folder / "a").write_text(text)


def test_what_is_there_is_not_made_again():
    first = cached("static", {"seed": 1}, write("first"))
    assert first == place_of("static", {"seed": 1}) == cache_root() / "static" / key_of({"seed": 1})
    assert cached("static", {"seed": 1}, write("second")) == first
    assert (first / "a").read_text() == "first"
    assert cached("static", {"seed": 2}, write("second")) != first


def test_an_error_leaves_nothing():
    def fail(folder):
        (folder / "a").write_text("half")
        raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        cached("static", "name", fail)
    assert not place_of("static", "name").exists()
    assert cached("static", "name", write("whole")) == cache_root() / "static" / "name"


def test_one_of_many_makes_it():
    made = []

    def make(folder):
        made.append(folder)
        (folder / "a").write_text("x")

    threads = [threading.Thread(target=cached, args=("static", "same", make)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_usage_and_clearing():
    assert cache_usage() == []
    cached("models", "a", write("1"))
    for name in "ab":
        cached("vectors", name, write("1234"))
    assert cache_usage() == [CacheUsage("vectors", 2, 8), CacheUsage("models", 1, 1)]
    assert clear_cache("absent") == 0
    assert clear_cache("vectors") == 8
    assert cache_usage() == [CacheUsage("models", 1, 1)]
    other = cache_root() / "letters" / "mine"
    other.mkdir(parents=True)
    assert clear_cache() == 1
    assert cache_usage() == []
    assert other.is_dir()


def test_what_a_run_has_too_is_not_freed(tmp_path):
    cached("models", "a", write("1234"))
    os.link(place_of("models", "a") / "a", tmp_path / "weights")
    assert clear_cache() == 0
    assert (tmp_path / "weights").read_text() == "1234"


def test_an_unknown_kind_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="cache kind 'texts': choose from models"):
        place_of("texts", "a")


def weights(folder, name, byte):
    """Return a file of the least size that is shared."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(byte * SHARED_BYTES)
    return folder / name


def test_equal_large_files_are_kept_once_whatever_their_names(tmp_path):
    first, second = weights(tmp_path / "a", "model", b"1"), weights(tmp_path / "b", "copy", b"1")
    other = weights(tmp_path / "b", "other", b"2")
    (tmp_path / "a" / "small").write_bytes(b"1")
    (tmp_path / "b" / "link").symlink_to(first)
    for folder in (first.parent, second.parent, second.parent):
        share_files(folder)
    assert first.stat().st_ino == second.stat().st_ino != other.stat().st_ino
    assert [path.stat().st_nlink for path in (first, other, tmp_path / "a" / "small")] == [3, 2, 1]
    assert sorted(path.name for path in second.parent.iterdir()) == ["copy", "link", "other"]
    clear_cache()  # takes nothing away from those who share
    assert first.stat().st_nlink == 2
    assert second.read_bytes() == b"1" * SHARED_BYTES


def test_a_damaged_file_of_the_cache_is_not_taken(tmp_path):
    share_files(weights(tmp_path / "a", "model", b"1").parent)
    (kept,) = (cache_root() / "files").iterdir()
    kept.write_bytes(b"2" * SHARED_BYTES)
    second = weights(tmp_path / "b", "model", b"1")
    share_files(second.parent)
    assert (second.stat().st_nlink, second.read_bytes()[:1]) == (1, b"1")


def test_on_another_disk_files_stay_as_they_are(tmp_path, monkeypatch):
    def refused(*places):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("os.link", refused)
    file = weights(tmp_path / "a", "model", b"1")
    share_files(file.parent)
    assert file.stat().st_nlink == 1


def test_what_no_folder_has_any_more_is_removed(tmp_path):
    for name, byte in (("kept", b"1"), ("gone", b"2")):
        share_files(weights(tmp_path / name, "model", byte).parent)
    (tmp_path / "gone" / "model").unlink()
    remove_unshared()
    (left,) = (cache_root() / "files").iterdir()
    assert left.stat().st_ino == (tmp_path / "kept" / "model").stat().st_ino
