"""Writing a run's query encoder as a graph for ONNX Runtime: optimised, on request quantised, and checked."""

from __future__ import annotations

import json
import logging
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from statgraph.artifacts import replaced_file
from statgraph.errors import DependencyError, ModelError
from statgraph.inference.onnx_export import ExportedEncoder, exported_encoder, largest_difference
from statgraph.inference.onnx_query import (
    FACTS,
    MODULE_WEIGHTS,
    QUERY_GRAPHS,
    OnnxQueryEncoder,
    weight_marks,
    word_vectors_place,
)
from statgraph.inference.static_query import static_outline

if TYPE_CHECKING:
    import onnx

# Of a component, where the longest vector has length 1. In int8, those of a trained e5-small differ by 0.002.
TOLERANCES = {"float32": 1e-5, "int8": 0.03}
_BLOCK = 32  # weights that share a scale
_BYTE_PRODUCTS = 4  # ONNX Runtime's accuracy level at which the inputs are bytes too
_PROBES = (
    "bail",
    "Who gets the deposit back?",
    "Wie betaalt de herstelling van het dak?",
    "Puis-je être licencié pendant un arrêt maladie ?",
    "Mon voisin a planté un arbre à moins de deux mètres de ma clôture ; puis-je exiger qu'il l'enlève, même s'il est "
    "là depuis dix ans et que l'ancien propriétaire du terrain ne s'en est jamais plaint ?",
    "Le loyer, les charges et la caution. " * 80,  # truncated
)


def write_query_graph(folder: Path, precision: str = "float32") -> float:
    """Write `query.onnx` (float32) or `query.int8.onnx` into a query encoder's folder; return the largest difference of
    a component from sentence-transformers, with the longest of its vectors taken as 1.

    The layers' weights are copied into the graph; the word vectors stay in `model.safetensors`, which the graph points
    to. The file is installed only if its vectors are within the precision's tolerance, alone and padded; until then a
    previous one stays. sentence-transformers ignores it.

    Args:
        folder: a sentence-transformers folder with a Transformer.
        precision: `float32` or `int8`.

    Raises:
        DependencyError: if onnx or onnxruntime is missing.
        ModelError: if the encoder is static or cannot be exported, or its vectors differ by more.
    """
    exported = exported_encoder(folder, with_pooled=True)
    if exported.is_static:
        raise ModelError(f"{folder}: a static encoder, which is fast without a graph; search it as it is")
    name, tolerance = QUERY_GRAPHS[precision], TOLERANCES[precision]
    with replaced_file(folder / name) as staging:
        model = _optimized(exported)
        if precision == "int8":
            model = _quantised(model)
        _put_words(model, exported, folder)
        _add_facts(model, exported, folder)
        staging.write_bytes(model.SerializeToString())
        ours = OnnxQueryEncoder(folder, precision, graph=staging)
        expected = exported.source.encode(list(_PROBES), show_progress_bar=False)  # (probes, width)
        alone, padded = (ours.encode(_PROBES, most_padding=share) for share in (0.0, 1.0))
        difference = max(largest_difference(vectors, expected) for vectors in (alone, padded))
        if not difference <= tolerance:
            raise ModelError(
                f"{folder}: in ONNX Runtime its vectors differ by {difference:.1e} from sentence-transformers', more "
                f"than {tolerance:.0e}; {name} is not written"
            )
    return difference


def add_query_graph(folder: Path) -> None:
    """Write `query.onnx` where the encoder is a transformer; where that fails, log one line that says why and that
    sentence-transformers encodes the questions."""
    if static_outline(folder) is not None:
        return
    log = logging.getLogger(__name__)
    try:
        write_query_graph(folder)
    except DependencyError as error:
        log.info("%s; until `statgraph quicken` runs, sentence-transformers encodes the questions", error)
    except ModelError as error:
        log.warning("%s; sentence-transformers encodes the questions", error)


def _optimized(exported: ExportedEncoder) -> onnx.ModelProto:
    """Return the model with ONNX Runtime's fused operators (attention, bias and GELU, sum and LayerNorm)."""
    from onnx import helper
    from onnxruntime.transformers.optimizer import optimize_model

    # "word_embedding_table size 16 <= position_embedding_table": the rest is put in afterwards.
    logging.getLogger("fusion_embedlayer").setLevel(logging.ERROR)
    config = exported.source[0].config
    heads, width = (getattr(config, name, 0) for name in ("num_attention_heads", "hidden_size"))
    # opt_level 0: what ONNX Runtime optimises by itself it does whenever it loads the graph.
    model = optimize_model(exported.model, "bert", num_heads=heads, hidden_size=width, opt_level=0).model
    if all(opset.domain != "com.microsoft" for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def _quantised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with the matrices of its layers in 8 bits, a scale for each block of weights and inputs; fused
    attention stays in float32."""
    if find_spec("onnx_ir") is None:
        raise DependencyError("onnx_ir: not installed; run: pip install 'statgraph[onnx]'")
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    root.handlers[:] = handlers  # the import sets up root logging, and the quantiser tells of every node
    root.setLevel(level)
    logging.getLogger("onnxruntime.quantization").setLevel(logging.WARNING)
    quantizer = MatMulNBitsQuantizer(model, bits=8, block_size=_BLOCK, is_symmetric=True, accuracy_level=_BYTE_PRODUCTS)
    quantizer.process()
    return quantizer.model.model


def _put_words(model: onnx.ModelProto, exported: ExportedEncoder, folder: Path) -> None:
    """Let the model read the word vectors where they are saved, or copy them where they are not float32 there."""
    from onnx import TensorProto, numpy_helper

    tensor = exported.words_tensor(model)
    path = folder / exported.first_folder / MODULE_WEIGHTS
    place = word_vectors_place(path, exported.words_key)
    if place is None:
        tensor.CopyFrom(numpy_helper.from_array(exported.words, exported.words_name))
        return
    tensor.CopyFrom(
        TensorProto(
            name=exported.words_name,
            dims=exported.words.shape,
            data_type=TensorProto.FLOAT,
            data_location=TensorProto.EXTERNAL,
        )
    )
    begin, end = place
    for key, value in {"location": path.relative_to(folder).as_posix(), "offset": begin, "length": end - begin}.items():
        tensor.external_data.add(key=key, value=str(value))


def _add_facts(model: onnx.ModelProto, exported: ExportedEncoder, folder: Path) -> None:
    """Note in the model what its reader needs to know beside it."""
    from onnx import helper

    facts = {
        "tokenizer": (exported.first_folder / "tokenizer.json").as_posix(),
        "prompt": exported.prompt,
        "max_tokens": exported.max_tokens,
        "pad_id": exported.pad_id,
        "weights": weight_marks(folder),
    }
    helper.set_model_props(model, {FACTS: json.dumps(facts)})
