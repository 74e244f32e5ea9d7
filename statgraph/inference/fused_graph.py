"""A BERT query encoder as a graph for ONNX Runtime alone: its fused operators over the weights where they are saved.

It is what `train` and `statgraph quicken` put into a run; `statgraph export --to onnx` writes a portable one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from statgraph.inference.coded_operators import CodedOperators
from statgraph.inference.encoder_outline import MODULE_CONFIG, MODULE_WEIGHTS, EncoderOutline, json_object
from statgraph.inference.fused_operators import LENGTHS, TOKEN_IDS, FusedOperators
from statgraph.inference.weight_places import weight_marks

WEIGHT_MARKS = "weights"  # the graph's own note of where it expects what, and of what it copied


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
    graph = FusedOperators(root) if ranges is None else CodedOperators(root, ranges)
    marks = weight_marks(outline, root, values=ranges is not None)
    return graph.model(_bert(graph, outline), {WEIGHT_MARKS: marks})


def fused_bert_with_inputs(outline: EncoderOutline, root: Path):
    """Return (model, names): that of `fused_bert` in float32, which gives the inputs of the layers' linear maps too,
    (texts, longest, width); `names` is map -> output."""
    from onnx import TensorProto, helper

    graph = FusedOperators(root)
    model = graph.model(_bert(graph, outline), {})
    names = graph.map_inputs
    for name in dict.fromkeys(names.values()):
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return model, names


def _bert(graph: FusedOperators, outline: EncoderOutline) -> str:
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


def _embedded(graph: FusedOperators, eps: float) -> str:
    """Return the sum of the words', positions' and first token type's vectors, normalised, (texts, longest, width)."""
    words, places, types = (
        graph.weight(f"embeddings.{kind}_embeddings.weight") for kind in ("word", "position", "token_type")
    )
    longest = graph.add("Shape", TOKEN_IDS, start=1, end=2)
    places = graph.add("Slice", places, graph.integers([0]), longest, graph.integers([0]))  # (longest, width)
    types = graph.add("Gather", types, graph.integers([0]))  # (1, width)
    hidden = graph.add("Add", graph.add("Gather", words, TOKEN_IDS), graph.add("Add", places, types))
    return graph.add("LayerNormalization", hidden, *graph.pair("embeddings.LayerNorm"), axis=-1, epsilon=eps)


def _layer(graph: FusedOperators, hidden: str, name: str, *, eps: float, heads: int) -> str:
    """Return (texts, longest, width) from the same: attention and feed-forward, each added and normalised."""
    attended = graph.attended(hidden, f"{name}.attention.self", heads)
    hidden = _added(graph, attended, hidden, f"{name}.attention.output", eps)
    wide = graph.mapped(hidden, f"{name}.intermediate.dense")
    wide = graph.fused("BiasGelu", wide, graph.weight(f"{name}.intermediate.dense.bias"))
    return _added(graph, wide, hidden, f"{name}.output", eps)


def _added(graph: FusedOperators, block: str, hidden: str, name: str, eps: float) -> str:
    """Return `hidden` plus what a block's last linear map gives, normalised."""
    mapped, bias = graph.mapped(block, f"{name}.dense"), graph.weight(f"{name}.dense.bias")
    return graph.fused("SkipLayerNormalization", hidden, mapped, *graph.pair(f"{name}.LayerNorm"), bias, epsilon=eps)


def _pooled(graph: FusedOperators, hidden: str, pooling: str) -> str:
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
