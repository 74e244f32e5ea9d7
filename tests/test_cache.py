import threading
from pathlib import Path

import pytest

from statgraph.artifacts import key_of
from statgraph.cache import CacheUsage, cache_in, cache_root, cache_usage, cached, clear_cache, place_of


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


def test_an_unknown_kind_is_a_mistake_of_ours():
    with pytest.raises(ValueError, match="cache kind 'texts': choose from models"):
        place_of("texts", "a")
