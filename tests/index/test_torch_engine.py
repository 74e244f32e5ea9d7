import faiss
import numpy as np
import pytest
import torch

from statgraph.corpus.allowed_rows import AllowedRows
from statgraph.index import torch_engine
from statgraph.index.torch_engine import TorchEngine


@pytest.mark.parametrize("block_scores", [1, 1 << 28])
def test_torch_finds_what_faiss_finds(unit_vectors, monkeypatch, block_scores):
    monkeypatch.setattr(torch_engine, "_BLOCK_SCORES", block_scores)
    flat = faiss.IndexFlatIP(16)
    flat.add(unit_vectors(300, 16, seed=7))
    queries = unit_vectors(9, 16, seed=8)
    expected_scores, expected_rows = flat.search(queries, 40)
    scores, rows = TorchEngine(flat, torch.device("cpu")).search(queries, 40)
    assert (rows == expected_rows).all()
    assert scores == pytest.approx(expected_scores, abs=1e-6)
    assert (scores.dtype, rows.dtype) == (np.float32, np.int64)


def test_search_leaves_the_precision_of_torch_as_it_was(unit_vectors):
    flat = faiss.IndexFlatIP(4)
    flat.add(unit_vectors(5, 4, seed=9))
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        TorchEngine(flat, torch.device("cpu")).search(unit_vectors(1, 4, seed=10), 2)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_torch_searches_among_some_rows():
    flat = faiss.IndexFlatIP(2)
    flat.add(np.array([[1, 0], [0, 1], [2, 2], [3, 0]], dtype=np.float32))
    engine = TorchEngine(flat, torch.device("cpu"))
    scores, rows = engine.search(np.array([[2, 1]], dtype=np.float32), 2, AllowedRows.checked([0, 1, 3], 4))
    assert (scores.tolist(), rows.tolist()) == ([[6.0, 2.0]], [[3, 0]])
