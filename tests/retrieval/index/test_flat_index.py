import faiss
import numpy as np
import pytest
import torch

from statgraph.config import IndexConfig
from statgraph.errors import UsageError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.article_index import ArticleIndex


def flat(vectors: np.ndarray, device: str = "cpu") -> ArticleIndex:
    ids = [f"a{row}" for row in range(len(vectors))]
    return ArticleIndex.build(vectors, ids, device=device, unit_length=False, config=IndexConfig("flat"))


@pytest.fixture(params=["cpu", "torch"])
def build(request):
    """Return a function that builds an index which FAISS searches, or torch as on a GPU."""

    def build(vectors: np.ndarray) -> ArticleIndex:
        index = flat(vectors)
        if request.param == "torch":
            index._index.__dict__["_on_gpu"] = torch.tensor(vectors)
        return index

    return build


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


@pytest.fixture
def gpu_searches(monkeypatch):
    """Let FAISS's names for one GPU stand for it; return the depths of the searches there."""
    depths = []

    class Copy:
        def __init__(self, flat):
            self._flat = flat

        def search(self, queries, depth):
            depths.append(depth)
            return self._flat.search(queries, depth)

    monkeypatch.setattr(faiss, "StandardGpuResources", object, raising=False)
    monkeypatch.setattr(faiss, "get_num_gpus", lambda: 1, raising=False)
    monkeypatch.setattr(faiss, "index_cpu_to_gpu", lambda resources, gpu, flat: Copy(flat), raising=False)
    return depths


@pytest.mark.parametrize(
    ("k", "share", "depths"),
    [(10, None, [42]), (2016, None, [2048]), (2017, None, []), (10, 0.5, [])],
    ids=["few", "as many as its kernels select", "more", "limited"],
)
def test_a_gpu_build_of_faiss_searches_what_its_kernels_can(gpu_searches, unit_vectors, k, share, depths):
    vectors, queries = unit_vectors(3000, 8, seed=5), unit_vectors(2, 8, seed=6)
    allowed = share and AllowedRows.of_mask(np.random.default_rng(3).random(3000) < share)
    found = flat(vectors, "auto").search(queries, k, allowed)
    assert gpu_searches == depths
    for one, other in zip(found, flat(vectors, "cpu").search(queries, k, allowed), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
    assert gpu_searches == depths  # none for the index that was asked to stay on the CPU


@pytest.mark.parametrize(("device", "keyword"), [("cuda", "CUDA"), ("tpu", "tpu")])
def test_devices_that_are_not_there_are_refused(compass, device, keyword):
    if device == "cuda" and torch.cuda.is_available():
        pytest.skip("has a CUDA device")
    with pytest.raises(UsageError, match=keyword):
        flat(compass, device).search(compass, 1)


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="has no CUDA device")
@pytest.mark.parametrize("share", [None, 0.3])
def test_a_gpu_agrees_with_the_cpu(unit_vectors, share):
    vectors, queries = unit_vectors(3000, 32, seed=5), unit_vectors(10, 32, seed=6)
    allowed = share and AllowedRows.of_mask(np.random.default_rng(3).random(3000) < share)
    on_cuda = flat(vectors, "cuda")
    on_cpu = flat(vectors)
    for one, other in zip(on_cuda.search(queries, 50, allowed), on_cpu.search(queries, 50, allowed), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
    index = on_cuda._index
    assert index._on_gpu.is_cuda if share or index._faiss_on_gpu is None else "_on_gpu" not in vars(index)


@pytest.mark.skipif(not hasattr(faiss, "IO_FLAG_MMAP_IFC"), reason="reads the file whole")
def test_an_index_that_was_read_is_mapped_and_outlives_its_folder(tmp_path, unit_vectors):
    vectors, queries = unit_vectors(4000, 384, seed=4), unit_vectors(2, 384, seed=5)
    built = flat(vectors)
    built.save(tmp_path / "index")
    index = ArticleIndex.load(tmp_path / "index", device="cpu")
    (tmp_path / "index" / "index.faiss").unlink()
    assert (index.vectors == vectors).all()
    for one, other in zip(index.search(queries, 9), built.search(queries, 9), strict=True):
        assert one.rows.tolist() == other.rows.tolist()
        assert one.scores.tolist() == other.scores.tolist()
