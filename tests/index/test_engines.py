import faiss
import numpy as np
import pytest
import torch

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.errors import UsageError
from statgraph.index import engines
from statgraph.index.article_index import ArticleIndex
from statgraph.index.engines import CpuEngine, FaissGpu, TorchEngine, faiss_has_gpu, pick_engine


@pytest.fixture
def flat(compass):
    flat = faiss.IndexFlatIP(2)
    flat.add(compass)
    return flat


def test_cpu_is_our_own_search(flat):
    assert isinstance(pick_engine(flat, "cpu"), CpuEngine)


@pytest.mark.skipif(torch.cuda.is_available() or faiss_has_gpu(), reason="has a CUDA device")
def test_without_a_gpu_auto_is_our_own_search_and_cuda_is_refused(flat):
    assert isinstance(pick_engine(flat, "auto"), CpuEngine)
    with pytest.raises(UsageError, match="torch sees no CUDA device"):
        pick_engine(flat, "cuda")


def test_unknown_devices_are_refused(flat):
    with pytest.raises(UsageError, match="tpu"):
        pick_engine(flat, "tpu")


def test_without_a_gpu_build_of_faiss_cuda_is_torch(flat, monkeypatch):
    # A stand-in for a machine whose torch has the GPU: the device is "cuda" only in name.
    class Picked:
        type = "cuda"

    monkeypatch.setattr("statgraph.index.engines.pick_device", lambda _: Picked())
    monkeypatch.setattr("statgraph.index.engines.surely_cpu", lambda _: False)
    monkeypatch.setattr("statgraph.index.engines.faiss_has_gpu", lambda: False)
    monkeypatch.setattr("statgraph.index.engines.TorchEngine", lambda flat, device: (flat, device.type))
    assert pick_engine(flat, "auto") == (flat, "cuda")


def test_a_gpu_build_of_faiss_comes_first(flat, monkeypatch):
    monkeypatch.setattr("statgraph.index.engines.faiss_has_gpu", lambda: True)
    monkeypatch.setattr("statgraph.index.engines.FaissGpu", lambda flat: ("gpu", flat))
    assert pick_engine(flat, "auto") == ("gpu", flat)
    assert pick_engine(flat, "cuda") == ("gpu", flat)
    assert isinstance(pick_engine(flat, "cpu"), CpuEngine)


@pytest.mark.parametrize("tile_scores", [1, 1 << 28])
def test_torch_finds_what_the_cpu_finds(unit_vectors, monkeypatch, tile_scores):
    monkeypatch.setattr(engines, "_TILE_SCORES", tile_scores)
    flat = faiss.IndexFlatIP(16)
    flat.add(unit_vectors(300, 16, seed=7))
    queries = unit_vectors(9, 16, seed=8)
    expected_scores, expected_rows = CpuEngine(flat).search(queries, 40)
    scores, rows = TorchEngine(flat, torch.device("cpu")).search(queries, 40)
    assert (rows == expected_rows).all()
    assert scores == pytest.approx(expected_scores, abs=1e-6)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_torch_leaves_its_precision_as_it_was(flat, compass):
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        TorchEngine(flat, torch.device("cpu")).search(compass[:1], 2)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_torch_searches_allowed_rows_with_ties_by_row():
    flat = faiss.IndexFlatIP(2)
    flat.add(np.array([[1, 0], [0, 1], [2, 2], [3, 0], [1, 0]], dtype=np.float32))
    engine = TorchEngine(flat, torch.device("cpu"))
    allowed = AllowedRows.checked([0, 1, 3, 4], 5)
    scores, rows = engine.search(np.array([[2, 1]], dtype=np.float32), 2, allowed)
    assert (scores.tolist(), rows.tolist()) == ([[6.0, 2.0]], [[3, 0]])


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="has no CUDA device")
def test_engine_on_cuda_agrees_with_the_cpu(unit_vectors):
    vectors, queries = unit_vectors(3000, 32, seed=5), unit_vectors(10, 32, seed=6)
    article_ids = [f"a{row}" for row in range(3000)]
    on_cuda = ArticleIndex.build(vectors, article_ids, device="cuda")
    assert isinstance(on_cuda._index._engine, TorchEngine | FaissGpu)
    scores, rows = on_cuda.search(queries, 50)
    expected_scores, expected_rows = ArticleIndex.build(vectors, article_ids, device="cpu").search(queries, 50)
    assert (rows == expected_rows).all()
    assert scores == pytest.approx(expected_scores, abs=1e-5)
