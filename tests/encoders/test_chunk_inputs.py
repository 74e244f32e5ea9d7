import numpy as np
import pytest
import torch

from statgraph.encoders.chunk_inputs import ChunkTokens, ChunkVectors, token_inputs
from statgraph.encoders.chunking import Chunks

CPU = torch.device("cpu")
OFFSETS = np.array([0, 2, 3, 6])  # three texts of two, one and three chunks
CHUNKS = Chunks(((7,), (8, 9), (10,), (11, 12, 13), (14,), (15, 16)), OFFSETS)


def test_vectors_of_some_rows():
    inputs = ChunkVectors(torch.arange(6.0).unsqueeze(1), OFFSETS)
    taken = inputs.take(torch.tensor([2, 0, 2]))

    assert taken.vectors[:, 0].tolist() == [3, 4, 5, 0, 1, 3, 4, 5]
    assert taken.offsets.tolist() == [0, 3, 5, 8]
    assert (len(inputs), len(taken)) == (3, 3)


def test_tokens_of_some_rows():
    taken = token_inputs(CHUNKS, pad_id=1).take(torch.tensor([1, 0]))

    assert taken.chunk_ids == [(10,), (7,), (8, 9)]
    assert taken.offsets.tolist() == [0, 1, 3]


@pytest.mark.parametrize("inputs", [ChunkVectors(torch.zeros(6, 2), OFFSETS), token_inputs(CHUNKS, pad_id=1)])
def test_no_rows(inputs):
    taken = inputs.take(torch.tensor([], dtype=torch.int64))

    assert (len(taken), taken.offsets.tolist()) == (0, [0])


@pytest.mark.parametrize("inputs", [ChunkVectors(torch.zeros(6, 2), OFFSETS), token_inputs(CHUNKS, pad_id=1)])
def test_taking_again_from_what_was_taken(inputs):
    both = inputs.take(torch.tensor([2, 1])).take(torch.tensor([1]))
    once = inputs.take(torch.tensor([1]))

    assert both.offsets.tolist() == once.offsets.tolist() == [0, 1]


def test_padding():
    ids, mask = token_inputs(CHUNKS, pad_id=1).take(torch.tensor([2])).padded()

    assert ids.tolist() == [[11, 12, 13], [14, 1, 1], [15, 16, 1]]
    assert mask.tolist() == [[1, 1, 1], [1, 0, 0], [1, 1, 0]]
    assert ids.dtype == mask.dtype == torch.int64


def test_padding_happens_on_the_device():
    inputs = ChunkTokens(CHUNKS.ids, OFFSETS, 1, CPU).to(torch.device("meta"))

    assert {tensor.device.type for tensor in inputs.padded()} == {"meta"}
    assert ChunkVectors(torch.zeros(6, 2), OFFSETS).to(torch.device("meta")).vectors.device.type == "meta"
