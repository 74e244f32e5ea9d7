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
