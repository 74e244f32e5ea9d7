"""The operators of a fused graph in int8, which holds copies of the layers' matrices."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from statgraph.inference.byte_codes import row_codes, smoothing
from statgraph.inference.fused_operators import LENGTHS, PARTS, FusedOperators


class CodedOperators(FusedOperators):
    """The same with the layers' matrices as codes of a byte, which the graph holds.

    ONNX Runtime makes bytes of a map's input too, with one scale for all of it; a few columns have values ten times as
    large as the others, which then would have a few codes only. Columns are therefore made more alike first, and the
    matrix's in turn (`smoothing`).
    """

    def __init__(self, root: Path, ranges: Mapping[str, np.ndarray]):
        super().__init__(root)
        self._ranges = ranges

    def mapped(self, hidden: str, name: str) -> str:
        return self._coded(hidden, name, self._array(f"{name}.weight"))

    def attended(self, hidden: str, name: str, heads: int) -> str:
        weight, bias = (
            np.concatenate([self._array(f"{name}.{part}.{kind}") for part in PARTS]) for kind in ("weight", "bias")
        )
        parts = self.split(self._coded(hidden, name, weight), len(PARTS))
        return self.fused("MultiHeadAttention", *parts, self.constant(bias), LENGTHS, num_heads=heads)

    def _coded(self, hidden: str, name: str, weight: np.ndarray) -> str:
        shares = smoothing(self._ranges[name], weight)
        codes, scales = row_codes(weight * shares)
        hidden = self.add("Mul", hidden, self.constant(1 / shares))
        # A zero of its own for each map: ONNX Runtime replaces it where it makes the codes unsigned.
        coded = codes.T.copy(), scales, np.array(0, dtype=np.int8)
        return self.fused("DynamicQuantizeMatMul", hidden, *(self.constant(array) for array in coded))

    def _array(self, name: str) -> np.ndarray:
        location, shape, (begin, _) = self.place(name)
        return np.array(np.memmap(self._root / location, np.float32, "r", begin, tuple(shape)))
