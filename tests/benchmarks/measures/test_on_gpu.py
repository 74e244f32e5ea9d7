import pytest
import torch

from benchmarks.measures import on_gpu
from benchmarks.settings import Settings


def test_without_a_gpu_the_rows_say_so(monkeypatch, tmp_path):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    rows = on_gpu.measure(Settings(tmp_path))
    assert [(row.reached, row.holds, row.note) for row in rows] == [("not measured", None, on_gpu.NO_GPU)] * 2


def test_operations_of_a_model_by_hand():
    model = torch.nn.ModuleDict({"embeddings": torch.nn.Embedding(10, 4), "layer": torch.nn.Linear(4, 3, bias=False)})

    def tokenizer(texts):
        return {"input_ids": [[1] * (600 if text == "long" else 2) for text in texts]}

    assert on_gpu._operations(tokenizer, model, ["long", "short"]) == 2 * 12 * (512 + 2)
    assert on_gpu._rate(torch.device("cpu"), quick=True) > 0


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_product_is_timed_until_it_is_there():
    assert 1e10 < on_gpu._rate(torch.device("cuda"), quick=False) < 1e16
