"""The operators of a fused graph in float32, over the weights where they are saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError
from statgraph.inference.onnx_operators import OnnxOperators
from statgraph.inference.weight_places import weight_places

TOKEN_IDS, LENGTHS, VECTORS = "token_ids", "lengths", "vectors"
PARTS = ("query", "key", "value")  # of an attention's linear maps
_FUSED = "com.microsoft"  # operators that ONNX Runtime has, and no other runtime


class FusedOperators(OnnxOperators):
    """Operators, ONNX Runtime's own among them, and the places of the weights that they read."""

    def __init__(self, root: Path):
        super().__init__()
        self._root = root
        self._tensors: dict[str, object] = {}
        self._places: dict[str, tuple[str, dict]] = {}
        self.map_inputs: dict[str, str] = {}  # of the layers' linear maps; query, key and value are one, `self`

    def add_file(self, path: Path, prefix: str) -> None:
        """Let the weights of a safetensors file be had, `prefix` before their names."""
        location = path.relative_to(self._root).as_posix()
        for name, about in weight_places(path).items():
            self._places[prefix + name] = location, about

    def weight(self, name: str) -> str:
        """Return the name of a weight, which is from now on part of the graph."""
        from onnx import TensorProto

        location, shape, (begin, end) = self.place(name)
        tensor = TensorProto(name=name, dims=shape, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        for key, value in {"location": location, "offset": begin, "length": end - begin}.items():
            tensor.external_data.add(key=key, value=str(value))
        self._tensors[name] = tensor
        return name

    def place(self, name: str) -> tuple[str, list[int], list[int]]:
        """Return (file, shape, [first byte, end]) of a weight.

        Raises:
            ModelError: if it is missing or not float32.
        """
        if name not in self._places:
            raise ModelError(f"{self._root}: no weight '{name}', which a BERT has; train the run again")
        location, about = self._places[name]
        if about["dtype"] != "F32":
            raise ModelError(f"{self._root / location}: '{name}' is {about['dtype']}; only F32 goes into a graph")
        return location, about["shape"], about["data_offsets"]

    def pair(self, name: str) -> tuple[str, str]:
        """Return the names of a weight and its bias."""
        return self.weight(f"{name}.weight"), self.weight(f"{name}.bias")

    def constant(self, array: np.ndarray) -> str:
        """Return the name of a constant."""
        from onnx import numpy_helper

        name = f"constant_{len(self._tensors)}"
        self._tensors[name] = numpy_helper.from_array(array, name)
        return name

    def integers(self, values: Sequence[int]) -> str:
        """Return the name of a list of integers, as operators take axes and places."""
        return self.constant(np.array(values, dtype=np.int64))

    def mapped(self, hidden: str, name: str) -> str:
        """Return `hidden` (..., width in) times a linear map's weight (width out, width in), transposed."""
        self.map_inputs[name] = hidden
        return self.add("MatMul", hidden, self._turned(self.weight(f"{name}.weight")))

    def attended(self, hidden: str, name: str, heads: int) -> str:
        """Return what the heads gather of `hidden`, (texts, longest, width), by the maps of query, key and value."""
        self.map_inputs[name] = hidden
        pairs = [self.pair(f"{name}.{part}") for part in PARTS]
        weights, biases = (self.add("Concat", *tensors, axis=0) for tensors in zip(*pairs, strict=True))
        return self.fused("Attention", hidden, self._turned(weights), biases, LENGTHS, num_heads=heads)

    def _turned(self, weight: str) -> str:
        """Return a weight transposed, which ONNX Runtime does once, when it loads the graph."""
        return self.add("Transpose", weight, perm=[1, 0])

    def fused(self, operator: str, *inputs: str, **attributes: object) -> str:
        """Return the name of what an operator of ONNX Runtime's own gives."""
        return self.add(operator, *inputs, domain=_FUSED, **attributes)

    def model(self, vectors: str, notes: dict[str, str]):
        """Return the `onnx.ModelProto` whose output is `vectors`, with notes that its readers find."""
        from onnx import TensorProto, helper

        model = self.model_of(
            vectors,
            inputs=[
                helper.make_tensor_value_info(TOKEN_IDS, TensorProto.INT64, ["texts", "longest"]),
                helper.make_tensor_value_info(LENGTHS, TensorProto.INT32, ["texts"]),
            ],
            output=helper.make_tensor_value_info(VECTORS, TensorProto.FLOAT, ["texts", "width"]),
            weights=list(self._tensors.values()),
            domains=[_FUSED],
        )
        helper.set_model_props(model, notes)
        return model
