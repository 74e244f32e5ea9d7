import numpy as np

from statgraph.index import blocks
from statgraph.index.blocks import float32_blocks


def test_blocks_are_float32_and_in_order(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 2)
    vectors = np.arange(6, dtype=np.float16).reshape(3, 2)
    found = list(float32_blocks(vectors))
    assert [(start, block.tolist(), block.dtype) for start, block in found] == [
        (0, [[0, 1], [2, 3]], np.float32),
        (2, [[4, 5]], np.float32),
    ]


def test_blocks_of_some_rows(monkeypatch):
    monkeypatch.setattr(blocks, "ROWS", 2)
    vectors = np.arange(10, dtype=np.float16).reshape(5, 2)
    read = [(start, block.tolist()) for start, block in blocks.float32_blocks(vectors, np.array([1, 3, 4]))]
    assert read == [(0, [[2, 3], [6, 7]]), (2, [[8, 9]])]
