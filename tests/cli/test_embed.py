import importlib.util
import re
import sys
from types import SimpleNamespace

import pytest

from statgraph import extras
from statgraph.contrib.sharding.ray_embedding import _cluster
from statgraph.errors import RunError, UsageError


def test_a_missing_package_is_named(refused, town, train_town, monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "pyarrow" else object())
    assert refused("update", "--vectors", "vectors", "--run", train_town("bm25"), "--corpus", town) == (
        "pyarrow: not installed; run in statgraph's checkout: pip install '.[sharding]'"
    )


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra sharding")
def test_a_corpus_is_embedded_and_taken_into_a_run(run_here, refused, town, train_town, tmp_path, monkeypatch):
    """On a Ray cluster of this machine alone, that ends with the command."""
    monkeypatch.setenv("RAY_worker_niceness", "0")
    dense_run = train_town("qabisar")
    embed = ("embed", "--run", dense_run, "--corpus", town, "--out", "vectors", "--shard", 1)
    done = run_here(*embed)
    assert done.returncode == 0, done.stderr
    told = re.fullmatch(
        rf"Vectors of {town} at vectors: encoder of {dense_run}, \d+\.\d s\n"
        r"  articles  16 embedded\n  shards    (\d), 0 of them there before\n",
        done.stdout,
    )
    assert told, done.stdout
    again = run_here(*embed)
    assert f"  articles  0 embedded\n  shards    {told[1]}, {told[1]} of them there before\n" in again.stdout
    assert refused(*embed[:-1], 2) == (
        f"vectors: holds the vectors of {town} in other shards; choose another --out, or give that corpus, as it was, "
        "with the same --shard"
    )

    update = ("update", "--run", dense_run, "--corpus", town, "--full", "--out")
    taken = run_here(*update, "taken", "--vectors", "vectors")
    assert "  embedded   19 texts, 16 of them taken from --vectors\n" in taken.stdout, taken.stdout
    assert refused(*update, "other", "--vectors", "nowhere") == (
        "nowhere: holds no vectors; write them with 'statgraph embed --out nowhere'"
    )


@pytest.mark.parametrize(
    ("address", "error", "told"),
    [(None, RunError, "this machine .*address"), ("ray://x:1", UsageError, "address ray://x:1: .*'ray start'")],
)
def test_a_cluster_that_does_not_answer_is_named(monkeypatch, address, error, told):
    def init(**where):
        raise ConnectionError("refused")

    monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(init=init, is_initialized=lambda: False))
    with pytest.raises(error, match=told), _cluster(address):
        pass
