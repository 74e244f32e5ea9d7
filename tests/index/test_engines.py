import faiss
import pytest
import torch

from statgraph.errors import UsageError
from statgraph.index.article_index import ArticleIndex
from statgraph.index.coded_scan import CodedScan
from statgraph.index.engines import faiss_has_gpu, pick_engine
from statgraph.index.faiss_gpu import FaissGpu
from statgraph.index.torch_engine import TorchEngine


@pytest.fixture
def flat(compass):
    flat = faiss.IndexFlatIP(2)
    flat.add(compass)
    return flat


def test_cpu_is_our_own_scan(flat):
    assert isinstance(pick_engine(flat, "cpu"), CodedScan)


@pytest.mark.skipif(torch.cuda.is_available() or faiss_has_gpu(), reason="has a CUDA device")
def test_without_a_gpu_auto_is_our_own_scan_and_cuda_is_refused(flat):
    assert isinstance(pick_engine(flat, "auto"), CodedScan)
    with pytest.raises(UsageError, match="torch sees no CUDA device"):
        pick_engine(flat, "cuda")


def test_unknown_devices_are_refused(flat):
    with pytest.raises(UsageError, match=r"^device 'tpu' is not known; use one of auto, cpu, cuda$"):
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
    assert isinstance(pick_engine(flat, "cpu"), CodedScan)


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
