"""`statgraph quicken`: a query encoder's graph for ONNX Runtime, optimised, beside its weights."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph.artifacts import replaced_file
from statgraph.encoders.inference.onnx_encoder import ExportedEncoder, exported_encoder, largest_difference
from statgraph.encoders.inference.onnx_query import FACTS, QUERY_GRAPH, OnnxQueryEncoder, encoder_hash
from statgraph.encoders.inference.static_query import MODULE_WEIGHTS, read_static_encoder
from statgraph.errors import DependencyError, ModelError, reason_of

if TYPE_CHECKING:
    import onnx

TOLERANCE = 1e-5  # of a component, where the longest vector has length 1
_PROBES = (
    "bail",
    "Who gets the deposit back?",
    "Wie betaalt de herstelling van het dak?",
    "Puis-je être licencié pendant un arrêt maladie ?",
    "Le loyer, les charges et la caution. " * 80,  # truncated
)


def add_query_graph(folder: Path) -> None:
    """Write `query.onnx` where the encoder is a transformer; where that fails, log one line that says why and that
    sentence-transformers encodes the questions."""
    if read_static_encoder(folder) is not None:
        return
    log = logging.getLogger(__name__)
    try:
        write_query_graph(folder)
    except DependencyError as error:
        log.info("%s; until `statgraph quicken` runs, sentence-transformers encodes the questions", error)
    except ModelError as error:
        log.warning("%s; sentence-transformers encodes the questions", error)


def write_query_graph(folder: Path) -> float:
    """Write `query.onnx` into a query encoder's folder; return the largest difference of a component from
    sentence-transformers, with the longest of its vectors taken as 1.

    The graph holds a copy of the layers' weights, and points to the word vectors in `model.safetensors`. The file is
    installed only if its vectors are within the tolerance, alone and padded; until then a previous one stays.
    sentence-transformers ignores it.

    Args:
        folder: a sentence-transformers folder with a Transformer.

    Raises:
        DependencyError: if a package of the extra `onnx` is missing.
        ModelError: if the encoder is static or cannot be exported, or its vectors differ by more.
    """
    exported = exported_encoder(folder, with_pooled=True)
    if exported.is_static:
        raise ModelError(f"{folder}: a static encoder, which is fast without a graph; search it as it is")
    with replaced_file(folder / QUERY_GRAPH) as staging:
        _point_to_words(exported, folder)
        model = _optimized(exported)
        _add_facts(model, exported, folder)
        try:
            staging.write_bytes(model.SerializeToString())
        except ValueError as error:  # of protobuf, whose messages hold 2 GB
            raise ModelError(f"{folder}: too large for an ONNX file ({reason_of(error)})") from error
        ours = OnnxQueryEncoder(folder, graph=staging)
        vectors = [np.concatenate([ours.encode([probe]) for probe in _PROBES]), ours.encode(_PROBES)]  # alone, padded
        expected = exported.source.encode(list(_PROBES), show_progress_bar=False)  # (probes, width)
        difference = max(largest_difference(each, expected) for each in vectors)
        if not difference <= TOLERANCE:
            raise ModelError(
                f"{folder}: in ONNX Runtime its vectors differ by {difference:.1e} from sentence-transformers', more "
                f"than {TOLERANCE:.0e}; {QUERY_GRAPH} is not written"
            )
    return difference


def _point_to_words(exported: ExportedEncoder, folder: Path) -> None:
    """Let the model read the word vectors from the encoder's own weights, if float32 there: of e5-small 82 % of a file
    that would be read whole at each start."""
    from onnx import TensorProto

    place, transformer = exported.first_folder / MODULE_WEIGHTS, exported.source[0].model
    words = transformer.get_input_embeddings().weight
    key = next(name for name, weight in transformer.named_parameters() if weight is words)
    with (folder / place).open("rb") as file:
        n_bytes = int.from_bytes(file.read(8), "little")
        about = json.loads(file.read(n_bytes)).get(key, {})
    tensor = next((each for each in exported.model.graph.initializer if each.name.endswith(f".{key}")), None)
    if tensor is None or about.get("dtype") != "F32":
        return
    begin, end = about["data_offsets"]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for name, value in {"location": place.as_posix(), "offset": 8 + n_bytes + begin, "length": end - begin}.items():
        tensor.external_data.add(key=name, value=str(value))


def _optimized(exported: ExportedEncoder) -> onnx.ModelProto:
    """Return the model with ONNX Runtime's fused operators (attention, bias and GELU, sum and LayerNorm)."""
    from onnx import helper
    from onnxruntime.transformers.fusion_options import FusionOptions
    from onnxruntime.transformers.optimizer import optimize_model

    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False  # it would take token ids of 32 bits
    config = exported.source[0].config
    heads, width = (getattr(config, name, 0) for name in ("num_attention_heads", "hidden_size"))
    # opt_level 0: what ONNX Runtime optimises by itself it does whenever it loads the graph.
    model = optimize_model(
        exported.model, "bert", num_heads=heads, hidden_size=width, optimization_options=options, opt_level=0
    ).model
    if all(opset.domain != "com.microsoft" for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return model


def _add_facts(model: onnx.ModelProto, exported: ExportedEncoder, folder: Path) -> None:
    """Note in the model what its reader needs to know beside it."""
    from onnx import helper

    facts = {
        "tokenizer": (exported.first_folder / "tokenizer.json").as_posix(),
        "prompt": exported.prompt,
        "max_tokens": exported.max_tokens,
        "pad_id": exported.pad_id,
        "weights_hash": encoder_hash(folder),
    }
    helper.set_model_props(model, {FACTS: json.dumps(facts)})
