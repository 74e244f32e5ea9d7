"""A BERT query encoder as a graph for ONNX Runtime alone: its fused operators over the weights where they are saved.

It is what `train` and `statgraph quicken` put into a run; `statgraph export --to onnx` writes a portable one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from statgraph.errors import ModelError
from statgraph.text.byte_codes import row_codes, smoothing
from statgraph.text.encoder_outline import MODULE_CONFIG, MODULE_WEIGHTS, EncoderOutline, json_object
from statgraph.text.onnx_operators import OnnxOperators

TOKEN_IDS, LENGTHS, VECTORS = "token_ids", "lengths", "vectors"
WEIGHT_MARKS = "weights"  # the graph's own note of where it expects what, and of what it copied
_FUSED = "com.microsoft"  # operators that ONNX Runtime has, and no other runtime
_LENGTH_BYTES = 8  # at the start of a safetensors file: the length of its header
_PROBED_BYTES = 256  # of each weight: training changes them all
_PARTS = ("query", "key", "value")


def fused_bert(outline: EncoderOutline, root: Path, ranges: Mapping[str, np.ndarray] | None = None):
    """Return an `onnx.ModelProto` of a BERT, its pooling, its linear map and its normalising.

    Inputs: `token_ids` (texts, longest) int64, filled up on the right with any token, and `lengths` (texts,) int32.
    Output: `vectors` (texts, width) float32. The weights are external data: places in the safetensors files of the
    query encoder, so the model has to be saved in `root`.

    Args:
        outline: an encoder that `BertQueryEncoder` knows.
        root: the query encoder's folder.
        ranges: where it is given, the layers multiply in int8, and the graph holds their matrices so: the largest
            magnitude of each column of each map's input, as for `fused_bert_with_inputs`. A scale is then common to all
            texts that are encoded together.

    Raises:
        ModelError: if a weight is missing or not float32.
        OSError, KeyError, ValueError: if a file is missing or damaged.
    """
    graph = _FusedGraph(root) if ranges is None else _CodedGraph(root, ranges)
    marks = weight_marks(outline, root, values=ranges is not None)
    return graph.model(_bert(graph, outline), {WEIGHT_MARKS: marks})


def fused_bert_with_inputs(outline: EncoderOutline, root: Path):
    """Return (model, names): that of `fused_bert` in float32, which gives the inputs of the layers' linear maps too,
    (texts, longest, width); `names` is map -> output."""
    from onnx import TensorProto, helper

    graph = _FusedGraph(root)
    model = graph.model(_bert(graph, outline), {})
    names = graph.map_inputs
    for name in dict.fromkeys(names.values()):
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return model, names


def _bert(graph: _FusedGraph, outline: EncoderOutline) -> str:
    """Return the texts' vectors, (texts, width)."""
    config = json_object(outline.first / MODULE_CONFIG)
    graph.add_file(outline.first / MODULE_WEIGHTS, "")
    eps, heads = config["layer_norm_eps"], config["num_attention_heads"]
    hidden = _embedded(graph, eps)
    for layer in range(config["num_hidden_layers"]):
        hidden = _layer(graph, hidden, f"encoder.layer.{layer}", eps=eps, heads=heads)
    vectors = _pooled(graph, hidden, outline.pooling)
    if outline.dense is not None:
        graph.add_file(outline.dense / MODULE_WEIGHTS, "dense.")
        dense = graph.pair("dense.linear")
        vectors = graph.add("Gemm", vectors, *dense, transB=1)
    return graph.add("LpNormalization", vectors, axis=-1, p=2) if outline.unit_length else vectors


def weight_marks(outline: EncoderOutline, root: Path, *, values: bool = False) -> str:
    """Return a text that changes with the place, the shape or the type of any weight: JSON, file to hash and size. With
    `values`, for a graph that holds copies, it changes with what the weights begin with too.

    Raises:
        OSError, ValueError: if a file is missing or damaged.
    """
    marks = {}
    for folder in filter(None, (outline.first, outline.dense)):
        path = folder / MODULE_WEIGHTS
        digest = hashlib.sha256(_header(path))
        if values:
            with path.open("rb") as file:
                for about in weight_places(path).values():
                    file.seek(about["data_offsets"][0])
                    digest.update(file.read(_PROBED_BYTES))
        marks[path.relative_to(root).as_posix()] = f"{digest.hexdigest()} {path.stat().st_size}"
    return json.dumps(marks)


def weight_places(path: Path) -> dict[str, dict]:
    """Return what a safetensors file's header says of each weight: `dtype`, `shape`, and `data_offsets`, here counted
    from the start of the file.

    Raises:
        OSError, ValueError: if the file is missing or damaged.
    """
    header = _header(path)
    start = _LENGTH_BYTES + len(header)
    weights = json.loads(header)
    weights.pop("__metadata__", None)
    return {
        name: about | {"data_offsets": [start + offset for offset in about["data_offsets"]]}
        for name, about in weights.items()
    }


def _header(path: Path) -> bytes:
    """Return the JSON at the start of a safetensors file, as it stands there."""
    with path.open("rb") as file:
        n_bytes = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if _LENGTH_BYTES + n_bytes > path.stat().st_size:
            raise ValueError(f"{path.name} ends within its header")
        return file.read(n_bytes)


def _embedded(graph: _FusedGraph, eps: float) -> str:
    """Return the sum of the words', positions' and first token type's vectors, normalised, (texts, longest, width)."""
    words, places, types = (
        graph.weight(f"embeddings.{kind}_embeddings.weight") for kind in ("word", "position", "token_type")
    )
    longest = graph.add("Shape", TOKEN_IDS, start=1, end=2)
    places = graph.add("Slice", places, graph.integers([0]), longest, graph.integers([0]))  # (longest, width)
    types = graph.add("Gather", types, graph.integers([0]))  # (1, width)
    hidden = graph.add("Add", graph.add("Gather", words, TOKEN_IDS), graph.add("Add", places, types))
    return graph.add("LayerNormalization", hidden, *graph.pair("embeddings.LayerNorm"), axis=-1, epsilon=eps)


def _layer(graph: _FusedGraph, hidden: str, name: str, *, eps: float, heads: int) -> str:
    """Return (texts, longest, width) from the same: attention and feed-forward, each added and normalised."""
    attended = graph.attended(hidden, f"{name}.attention.self", heads)
    hidden = _added(graph, attended, hidden, f"{name}.attention.output", eps)
    wide = graph.mapped(hidden, f"{name}.intermediate.dense")
    wide = graph.fused("BiasGelu", wide, graph.weight(f"{name}.intermediate.dense.bias"))
    return _added(graph, wide, hidden, f"{name}.output", eps)


def _added(graph: _FusedGraph, block: str, hidden: str, name: str, eps: float) -> str:
    """Return `hidden` plus what a block's last linear map gives, normalised."""
    mapped, bias = graph.mapped(block, f"{name}.dense"), graph.weight(f"{name}.dense.bias")
    return graph.fused("SkipLayerNormalization", hidden, mapped, *graph.pair(f"{name}.LayerNorm"), bias, epsilon=eps)


def _pooled(graph: _FusedGraph, hidden: str, pooling: str) -> str:
    """Return the first token's state, or the mean of a text's own, (texts, width)."""
    if pooling == "cls":
        return graph.add("Gather", hidden, graph.constant(np.array(0, dtype=np.int64)), axis=1)
    from onnx import TensorProto

    zero, one = (graph.constant(np.array(value, dtype=np.int64)) for value in (0, 1))
    longest = graph.add("Squeeze", graph.add("Shape", TOKEN_IDS, start=1, end=2))
    lengths = graph.add("Unsqueeze", graph.add("Cast", LENGTHS, to=TensorProto.INT64), graph.integers([1]))
    own = graph.add("Less", graph.add("Range", zero, longest, one), lengths)  # (texts, longest)
    own = graph.add("Unsqueeze", graph.add("Cast", own, to=TensorProto.FLOAT), graph.integers([2]))
    total = graph.add("ReduceSum", graph.add("Mul", hidden, own), graph.integers([1]), keepdims=0)
    return graph.add("Div", total, graph.add("Cast", lengths, to=TensorProto.FLOAT))


class _FusedGraph(OnnxOperators):
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
        pairs = [self.pair(f"{name}.{part}") for part in _PARTS]
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


class _CodedGraph(_FusedGraph):
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
            np.concatenate([self._array(f"{name}.{part}.{kind}") for part in _PARTS]) for kind in ("weight", "bias")
        )
        parts = self.split(self._coded(hidden, name, weight), len(_PARTS))
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
