"""A portable ONNX graph in the making: weights, standard operators, and the steps that end every encoder."""

from __future__ import annotations

import numpy as np

from statgraph.inference.onnx_operators import OnnxOperators

TOKEN_IDS, TOKEN_MASK, VECTORS = "input_ids", "attention_mask", "sentence_embedding"
_LEAST_LENGTH = 1e-12  # of a vector that is brought to length 1, as torch's normalize has it


class PortableGraph(OnnxOperators):
    """A graph for `statgraph export`, which any ONNX runtime takes: standard operators only, and the weights with them.

    The inputs are `input_ids` and `attention_mask` (texts, tokens) int64, the output is `sentence_embedding`
    (texts, width) float32.
    """

    def __init__(self):
        super().__init__()
        self._weights: dict[str, np.ndarray] = {}

    def weight(self, array: np.ndarray) -> str:
        """Return the name of a new constant tensor."""
        name = f"weight_{len(self._weights)}"
        self._weights[name] = np.asarray(array, order="C")  # a scalar stays one
        return name

    def number(self, value: float) -> str:
        """Return the name of a new float32 scalar."""
        return self.weight(np.array(value, dtype=np.float32))

    def linear(self, hidden: str, weight: np.ndarray, bias: np.ndarray) -> str:
        """Return `hidden` (..., width in) times `weight` (width out, width in) transposed, plus `bias`."""
        return self.add("Add", self.add("MatMul", hidden, self.weight(weight.T)), self.weight(bias))

    def float_mask(self) -> str:
        """Return the mask as 1.0 and 0.0, (texts, tokens)."""
        from onnx import TensorProto

        return self.add("Cast", TOKEN_MASK, to=TensorProto.FLOAT)

    def mean_of_tokens(self, hidden: str) -> str:
        """Return the mean of the tokens that the mask shows, (texts, width); zeros where there is none."""
        axis = self.weight(np.array([1], dtype=np.int64))
        mask = self.add("Unsqueeze", self.float_mask(), self.weight(np.array([2], dtype=np.int64)))
        total = self.add("ReduceSum", self.add("Mul", hidden, mask), axis, keepdims=0)  # (texts, width)
        count = self.add("ReduceSum", mask, axis, keepdims=0)  # (texts, 1)
        return self.add("Div", total, self.add("Max", count, self.number(1.0)))

    def unit_length(self, vectors: str) -> str:
        """Return vectors (texts, width) brought to length 1."""
        lengths = self.add("ReduceL2", vectors, axes=[1], keepdims=1)
        return self.add("Div", vectors, self.add("Max", lengths, self.number(_LEAST_LENGTH)))

    @property
    def weight_bytes(self) -> int:
        """Return the size of all weights."""
        return sum(array.nbytes for array in self._weights.values())

    def model(self, vectors: str, width: int):
        """Return the `onnx.ModelProto` that gives `vectors` (texts, width)."""
        from onnx import TensorProto, helper, numpy_helper

        return self.model_of(
            vectors,
            inputs=[
                helper.make_tensor_value_info(name, TensorProto.INT64, ["texts", "tokens"])
                for name in (TOKEN_IDS, TOKEN_MASK)
            ],
            output=helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["texts", width]),
            weights=[numpy_helper.from_array(array, name) for name, array in self._weights.items()],
        )
