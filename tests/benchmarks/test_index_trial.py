import numpy as np
import pytest

from benchmarks import index_trial
from benchmarks.index_trial import build, draw, search
from statgraph.index import vectors as index_vectors


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_trial_from_vectors_to_recall(tmp_path, precision):
    draw(tmp_path, n_articles=800, precision=precision)
    drawn = np.load(tmp_path / "drawn.npy", mmap_mode="r", allow_pickle=False)
    assert (drawn.shape, drawn.dtype.name) == ((800, 384), precision)
    built = build(tmp_path, config={"kind": "ivf-pq", "ivf_pq": {"precision": precision, "rerank": 200}})
    assert (built["kind"], built["bytes"]["vectors.npy"]) == ("ivf-pq", 128 + 800 * 384 * drawn.itemsize)
    searched = search(tmp_path, n_articles=800, n_queries=4, n_single=2, n_batch=3, rounds=1, n_exact=400)
    assert 0.9 <= searched["recall"] <= 1
    assert searched["same_again"]
    assert list(searched["alone_s"]) == list(searched["together_s"]) == ["ours", "faiss", "torch"]
    assert searched["n_exact"] == 400


def test_the_best_of_all_tiles(monkeypatch):
    monkeypatch.setattr(index_vectors, "TILE_ROWS", 2)
    monkeypatch.setattr(index_trial, "DEPTH", 3)
    vectors = np.array([[1, 0], [0, 1], [2, 0], [3, 0], [0, 5]], dtype=np.float16)
    queries = np.array([[1, 0], [0, 1]], dtype=np.float32)
    assert index_trial._best(vectors, queries)[0].tolist() == [3, 2, 0]
    assert index_trial._best(vectors, queries)[1, :2].tolist() == [4, 1]
