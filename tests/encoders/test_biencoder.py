import torch

from statgraph.encoders.biencoder import dense_module


def test_the_module_is_the_map():
    dense = dense_module(torch.tensor([[1.0, 2.0], [0.0, 1.0], [0.0, 0.0]]), torch.tensor([0.0, 0.5, 1.0]))
    out = dense({"sentence_embedding": torch.tensor([[3.0, 4.0]])})["sentence_embedding"]
    assert out.tolist() == [[11.0, 4.5, 1.0]]
