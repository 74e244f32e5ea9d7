from types import SimpleNamespace

import numpy as np
import pytest
import torch

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import UsageError
from statgraph.index import device_search
from statgraph.index.article_index import ArticleIndex
from statgraph.index.device_search import FaissGpuSearch, TorchSearch, exact_search_on, faiss_has_gpu
from statgraph.index.exact_search import exact_search


@pytest.mark.skipif(torch.cuda.is_available() or faiss_has_gpu(), reason="has a CUDA device")
def test_without_a_gpu_auto_is_our_own_search_and_cuda_is_refused(compass):
    assert exact_search_on("auto", compass).func is exact_search
    with pytest.raises(UsageError, match="CUDA"):
        exact_search_on("cuda", compass)


def test_unknown_devices_are_refused(compass):
    with pytest.raises(UsageError, match="tpu"):
        exact_search_on("tpu", compass)


def test_without_a_gpu_build_of_faiss_cuda_is_torch(compass, monkeypatch):
    # A stand-in for a machine whose torch has the GPU: the device is "cuda" only in name.
    class Picked:
        type = "cuda"

    monkeypatch.setattr(device_search, "pick_device", lambda _: Picked())
    monkeypatch.setattr(device_search, "surely_cpu", lambda _: False)
    monkeypatch.setattr(device_search, "faiss_has_gpu", lambda: False)
    monkeypatch.setattr(device_search, "TorchSearch", lambda *_: SimpleNamespace(search="torch"))
    assert exact_search_on("auto", compass) == "torch"


def test_a_gpu_build_of_faiss_comes_first(compass, monkeypatch):
    monkeypatch.setattr(device_search, "faiss_has_gpu", lambda: True)
    monkeypatch.setattr(device_search, "FaissGpuSearch", lambda _: SimpleNamespace(search="gpu"))
    assert exact_search_on("auto", compass) == exact_search_on("cuda", compass) == "gpu"
    assert exact_search_on("cpu", compass).func is exact_search


@pytest.mark.parametrize("tile_scores", [1, 1 << 28])
def test_torch_finds_what_the_cpu_finds(unit_vectors, monkeypatch, tile_scores):
    monkeypatch.setattr(device_search, "_TILE_SCORES", tile_scores)
    vectors, queries = unit_vectors(300, 16, seed=7), unit_vectors(9, 16, seed=8)
    expected_scores, expected_rows = exact_search(vectors, queries, 40)
    scores, rows = TorchSearch(vectors, torch.device("cpu")).search(queries, 40)
    assert (rows == expected_rows).all()
    assert scores == pytest.approx(expected_scores, abs=1e-6)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_torch_leaves_its_precision_as_it_was(compass):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        TorchSearch(compass, torch.device("cpu")).search(compass[:1], 2)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_torch_searches_allowed_rows_with_ties_by_row():
    vectors = np.array([[1, 0], [0, 1], [2, 2], [3, 0], [1, 0]], dtype=np.float32)
    engine = TorchSearch(vectors, torch.device("cpu"))
    allowed = AllowedRows.checked([0, 1, 3, 4], 5)
    scores, rows = engine.search(np.array([[2, 1]], dtype=np.float32), 2, allowed)
    assert (scores.tolist(), rows.tolist()) == ([[6.0, 2.0]], [[3, 0]])


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="has no CUDA device")
def test_engine_on_cuda_agrees_with_the_cpu(unit_vectors):
    vectors, queries = unit_vectors(3000, 32, seed=5), unit_vectors(10, 32, seed=6)
    article_ids = [f"a{row}" for row in range(3000)]
    on_cuda = ArticleIndex.build(vectors, article_ids, device="cuda")
    assert isinstance(on_cuda._index._search.__self__, TorchSearch | FaissGpuSearch)
    scores, rows = on_cuda.search(queries, 50)
    expected_scores, expected_rows = ArticleIndex.build(vectors, article_ids, device="cpu").search(queries, 50)
    assert (rows == expected_rows).all()
    assert scores == pytest.approx(expected_scores, abs=1e-5)
