"""`embed` on a real Ray cluster of two nodes on this machine: `make engines`."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("ray", reason="needs the libraries of the extension")
pytest.importorskip("pyarrow", reason="needs the libraries of the extension")

import ray

from statgraph.contrib.sharding.ray_embedding import Embedding, embed
from statgraph.contrib.sharding.vector_shards import VectorShards
from statgraph.device import pick_device
from statgraph.encoders.article_encoder import load_article_encoder
from statgraph.encoders.article_text import article_texts
from statgraph.errors import CorpusError, RunError, UsageError
from statgraph.law.store import write_corpus
from statgraph.runs.run import RunFolder

REPO = Path(__file__).parents[3]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


CLIENTS = free_port()


@pytest.fixture(scope="module")
def cluster():
    """Return a cluster of a head and a node with one CPU each, which this process has joined."""
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    store = {"num_cpus": 1, "object_store_memory": 100 * 2**20}
    head = {"include_dashboard": False, "ray_client_server_port": CLIENTS}
    made = Cluster(initialize_head=True, head_node_args={**store, **head})
    try:
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        made.add_node(**store)
        made.wait_for_nodes()
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="module")
def run(train_town):
    return RunFolder.read(train_town("qabisar"))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, town_corpus):
    folder = tmp_path_factory.mktemp("corpus") / "town"
    write_corpus(town_corpus, folder)
    return folder


@pytest.fixture(scope="module")
def long_corpus(tmp_path_factory, town_corpus):
    """Return the town's law written out 160 times, as JSON Lines."""
    import json

    folder = tmp_path_factory.mktemp("corpus")
    with (folder / "law.jsonl").open("w") as file:
        for copy in range(160):
            for article in town_corpus.articles:
                text = {"text": f"{article.text} {copy} " * 20, "metadata": {"path": article.path}}
                file.write(json.dumps({"_id": f"{article.article_id}-{copy}", **text}) + "\n")
    return folder


def local_vectors(run: RunFolder, corpus) -> tuple[list[str], np.ndarray]:
    """Return the texts of a corpus, and the vectors that the run's encoder gives all of them at once."""
    from statgraph.contrib.sharding.article_shards import read_shard, shards_of

    (whole,) = shards_of(str(corpus), 10**9)
    texts = article_texts(read_shard(str(corpus), whole), heading_path=run.config.encoder.heading_path)
    encoder = load_article_encoder(run.folder, run.config.encoder, pick_device("cpu"))
    return texts, encoder.encode(texts)


def ids_at(folder) -> list[str]:
    from pyarrow import parquet

    return [one for path in folder.glob("*.parquet") for one in parquet.read_table(path)["_id"].to_pylist()]


def busy(node) -> bool:
    """Return whether a node is embedding."""
    return not ray._private.state.available_resources_per_node()[node.node_id].get("CPU")


def refuse(texts):
    raise AssertionError(f"{len(texts)} texts have no vector")


def check_equal(run: RunFolder, corpus, folder) -> None:
    texts, expected = local_vectors(run, corpus)
    vectors, taken = VectorShards(str(folder)).encoded(texts, refuse)
    assert taken == len(texts)
    np.testing.assert_allclose(vectors, expected, atol=1e-6)


def test_a_node_that_dies_loses_nothing_and_doubles_nothing(cluster, run, long_corpus, tmp_path):
    killed = []

    def kill(step):
        (node,) = cluster.worker_nodes or [None]
        if step.done >= 3 and not killed and busy(node):
            cluster.remove_node(node, allow_graceful=False)
            killed.append(step.done)

    summary = embed(run, Embedding(str(long_corpus), str(tmp_path / "out"), shard_kib=64), kill)
    assert killed
    assert killed[0] < summary.shards - 3
    assert (summary.articles, summary.there_before) == (2560, 0)
    ids = ids_at(tmp_path / "out")
    assert (len(ids), len(set(ids))) == (2560, 2560)
    check_equal(run, long_corpus, tmp_path / "out")


def test_a_stopped_call_goes_on(cluster, run, corpus, tmp_path):
    what = Embedding(str(corpus), str(tmp_path / "out"), shard_kib=1)

    def stop(step):
        if step.done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(run, what, stop)
    left = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("*.parquet")}
    assert left
    summary = embed(run, what)
    assert summary.there_before >= 1
    assert all(path.stat().st_mtime_ns == written for path, written in left.items())
    assert len(ids_at(tmp_path / "out")) == 16
    check_equal(run, corpus, tmp_path / "out")
    assert embed(run, what).articles == 0


def test_a_cluster_elsewhere_is_reached_as_its_client(cluster, run, corpus, tmp_path):
    """By `ray://`: this process has joined the cluster, one of its own has not."""
    what = ("--run", run.folder, "--corpus", corpus, "--out", tmp_path / "out", "--shard", 1)
    command = [sys.executable, "-m", "statgraph.cli", "embed", *what, "--address", f"ray://127.0.0.1:{CLIENTS}"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=REPO)
    assert done.returncode == 0, done.stderr
    assert "16 embedded" in done.stdout
    check_equal(run, corpus, tmp_path / "out")


def test_the_problems_of_an_article_are_listed(cluster, run, tmp_path):
    (tmp_path / "law.jsonl").write_text('{"_id": "a", "text": "Text.", "metadata": {"path": ["Code"]}}\n{"_id": "b"}\n')
    with pytest.raises(CorpusError, match="article 'b' has an empty text"):
        embed(run, Embedding(str(tmp_path), str(tmp_path / "out")))


def test_what_cannot_be_embedded(cluster, run, corpus, train_town, tmp_path):
    with pytest.raises(UsageError, match="device cuda"):
        embed(run, Embedding(str(corpus), str(tmp_path / "out"), device="cuda"))
    with pytest.raises(RunError, match="BM25"):
        embed(RunFolder.read(train_town("bm25")), Embedding(str(corpus), str(tmp_path / "out")))
