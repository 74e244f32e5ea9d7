import faiss
import numpy as np
import pytest
import torch

from statgraph.config import IndexConfig
from statgraph.errors import UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.flat_index import FlatIndex


@pytest.fixture(params=["cpu", "torch"])
def build(request):
    """Return a function that builds an index which FAISS searches, or torch as on a GPU."""

    def build(vectors: np.ndarray) -> FlatIndex:
        index = FlatIndex.build(vectors, IndexConfig(), device="cpu")
        if request.param == "torch":
            index.__dict__["_on_gpu"] = torch.tensor(index.vectors)
        return index

    return build


def test_scores_are_of_the_rows_that_are_given(compass):
    index = FlatIndex.build(compass, IndexConfig(), device="cpu")
    assert index.scores(compass[1], np.array([3, 0, 1])).tolist() == [-1, 0, 1]
    with pytest.raises(RuntimeError, match="reconstruct"):
        index.scores(compass[1], np.array([5]))


def test_the_best_of_some_rows_go_by_row_where_they_tie():
    vectors = np.array([[2, 0], [3, 0], [2, 5], [3, 1], [9, 9]], dtype=np.float32)
    index = FlatIndex.build(vectors, IndexConfig(), device="cpu")
    rows, scores = index.best_of(np.array([1, 0], dtype=np.float32), np.array([3, 2, 1, 0]), 3)
    assert (rows.tolist(), scores.tolist()) == ([1, 3, 0], [3, 3, 2])


@pytest.mark.parametrize("share", [None, 0.9, 0.1])
@pytest.mark.parametrize("n_queries", [1, 50])
@pytest.mark.parametrize("k", [1, 10, 60])
def test_the_ranking_is_that_of_a_comparison_with_every_vector(build, unit_vectors, exact_best, share, n_queries, k):
    vectors, queries = unit_vectors(1000, 48, seed=1), unit_vectors(n_queries, 48, seed=2)
    vectors *= np.geomspace(0.1, 10, 1000, dtype=np.float32)[:, None]
    allowed = share and AllowedRows.of_mask(np.random.default_rng(3).random(1000) < share)
    searched = np.arange(1000) if share is None else allowed.rows
    expected_scores, expected_rows = exact_best(vectors[searched], queries, k)
    for (rows, scores), own_scores, own_rows in zip(
        build(vectors).search(queries, k, allowed), expected_scores, expected_rows, strict=True
    ):
        assert rows.tolist() == searched[own_rows].tolist()
        assert scores == pytest.approx(own_scores, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("k", [1, 7, 20, 300])
def test_equal_vectors_go_by_row(build, unit_vectors, k):
    # Ten vectors of thirty copies each.
    vectors, queries = np.tile(unit_vectors(10, 383, seed=1), (30, 1)), unit_vectors(40, 383, seed=2)
    order = np.argsort(-(queries @ vectors[:10].T), axis=1)  # (queries, 10)
    for own, (rows, _) in zip(order, build(vectors).search(queries, k), strict=True):
        assert rows.tolist() == np.concatenate([np.arange(first, 300, 10) for first in own])[:k].tolist()


def test_a_gpu_build_of_faiss_searches_what_its_kernels_can(compass, monkeypatch):
    """Stands for a GPU: FAISS's names for one, and a copy of the index that counts its searches."""
    import faiss

    asked = []

    class Copy:
        def search(self, queries, depth):
            asked.append(depth)
            return index._flat.search(queries, depth)

    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", lambda resources, gpu, flat: Copy(), raising=False)
    index = FlatIndex.build(compass, IndexConfig(), device="auto")
    on_cpu = FlatIndex.build(compass, IndexConfig(), device="cpu")
    assert index.search(compass[:1], 2)[0].rows.tolist() == on_cpu.search(compass[:1], 2)[0].rows.tolist()
    assert asked == [len(compass)]
    index.search(compass[:1], 1, AllowedRows.checked([2], len(compass)))  # a filter is searched on the CPU
    assert len(asked) == 1


@pytest.mark.parametrize(("device", "keyword"), [("cuda", "CUDA"), ("tpu", "tpu")])
def test_devices_that_are_not_there_are_refused(compass, device, keyword):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("has a CUDA device")
    with pytest.raises(UsageError, match=keyword):
        FlatIndex.build(compass, IndexConfig(), device=device).search(compass, 1)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="has no CUDA device")
@pytest.mark.parametrize("share", [None, 0.3])
def test_a_gpu_agrees_with_the_cpu(unit_vectors, share):
    vectors, queries = unit_vectors(3000, 32, seed=5), unit_vectors(10, 32, seed=6)
    allowed = share and AllowedRows.of_mask(np.random.default_rng(3).random(3000) < share)
    on_cuda = FlatIndex.build(vectors, IndexConfig(), device="cuda")
    on_cpu = FlatIndex.build(vectors, IndexConfig(), device="cpu")
    for one, other in zip(on_cuda.search(queries, 50, allowed), on_cpu.search(queries, 50, allowed), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
    assert on_cuda._on_gpu.is_cuda


@pytest.mark.skipif(not hasattr(faiss, "IO_FLAG_MMAP_IFC"), reason="reads the file whole")
def test_an_index_that_was_read_is_mapped_and_outlives_its_folder(tmp_path, unit_vectors):
    vectors, queries = unit_vectors(4000, 384, seed=4), unit_vectors(2, 384, seed=5)
    built = FlatIndex.build(vectors, IndexConfig(), device="cpu")
    built.write(tmp_path)
    index = FlatIndex.read(tmp_path, {}, device="cpu")
    (tmp_path / "index.faiss").unlink()
    assert (index.vectors == vectors).all()
    for one, other in zip(index.search(queries, 9), built.search(queries, 9), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
