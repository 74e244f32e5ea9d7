"""A query encoder as ONNX: as `statgraph export` writes it, and optimised for ONNX Runtime beside its weights."""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph.artifacts import replaced_file
from statgraph.encoders.backbones import MODULES
from statgraph.encoders.loading import quiet_transformers
from statgraph.errors import DependencyError, ModelError, reason_of
from statgraph.inference.onnx_query import (
    FACTS,
    POOLED,
    QUERY_GRAPHS,
    TOKEN_IDS,
    TOKEN_MASK,
    VECTORS,
    OnnxQueryEncoder,
    encoder_hash,
)
from statgraph.inference.static_query import MODULE_WEIGHTS, read_static_encoder

if TYPE_CHECKING:
    import onnx
    from sentence_transformers import SentenceTransformer

OPSET = 17  # the first with LayerNormalization; later ones shut out older runtimes
# Of a component, where the longest vector has length 1. In int8, those of a trained e5-small differ by 0.002.
TOLERANCES = {"float32": 1e-5, "int8": 0.03}
_BLOCK = 32  # weights that share a scale
_BYTE_PRODUCTS = 4  # ONNX Runtime's accuracy level at which the inputs are bytes too
_PROBES = (
    "bail",
    "Who gets the deposit back?",
    "Wie betaalt de herstelling van het dak?",
    "Puis-je être licencié pendant un arrêt maladie ?",
    "Le loyer, les charges et la caution. " * 80,  # truncated
)


@dataclass(frozen=True, eq=False)
class ExportedEncoder:
    """A query encoder as ONNX.

    Inputs: `input_ids` and `attention_mask` (texts, tokens) int64, padded on the right. Output: `sentence_embedding`
    (texts, width) float32.

    Attributes:
        model: the graph with its weights, in standard operators.
        first_folder: the folder of the first module, relative to the encoder's.
        source: the encoder as sentence-transformers loads it.
        is_static: whether it takes the mean of token vectors, without layers.
    """

    model: onnx.ModelProto
    first_folder: Path
    source: SentenceTransformer
    is_static: bool

    @property
    def prompt(self) -> str:
        """Return what sentence-transformers puts before each question, blank for nothing."""
        return (self.source.prompts or {}).get(self.source.default_prompt_name) or ""

    @property
    def pad_id(self) -> int:
        """Return the token that fills up shorter texts."""
        return 0 if self.is_static else self.source[0].tokenizer.pad_token_id or 0

    @property
    def max_tokens(self) -> int | None:
        """Return the longest text in tokens; None without a limit beside the tokenizer's own."""
        return None if self.is_static else self.source.max_seq_length


def check_packages() -> None:
    """Raise DependencyError if a package of the extra `onnx` is missing."""
    missing = [package for package in ("onnx", "onnxruntime", "onnx_ir") if find_spec(package) is None]
    if missing:
        raise DependencyError(f"{missing[0]}: not installed; run: pip install 'statgraph[onnx]'")


def exported_encoder(folder: Path, *, with_pooled: bool = False) -> ExportedEncoder:
    """Return a query encoder as ONNX.

    sentence-transformers' own ONNX backend needs optimum-onnx, which takes transformers 4 alone (0.1.0: below 4.58).

    Args:
        folder: a sentence-transformers folder.
        with_pooled: whether a transformer's graph also returns its pooled vectors, `pooled` (texts, width), where a
            module follows the pooling.

    Raises:
        DependencyError: if onnx or onnxruntime is missing.
        ModelError: if the folder holds no encoder, or one that torch cannot export.
        Exception: whatever sentence-transformers raises for a damaged file.
    """
    check_packages()
    from sentence_transformers import SentenceTransformer
    from torch import nn

    if not (folder / MODULES).is_file():
        raise ModelError(f"{folder}: no query encoder ({MODULES} is missing); train the run again")
    quiet_transformers()
    # ONNX Runtime's optimiser recognises plain attention, not that of scaled_dot_product_attention.
    plain = {"attn_implementation": "eager"}
    source = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=plain)
    kind = type(source[0]).__name__
    if kind not in ("StaticEmbedding", "Transformer"):
        raise ModelError(f"{folder}: begins with {kind}, not Transformer or StaticEmbedding")
    is_static = kind == "StaticEmbedding"
    first = _token_mean(source[0].embedding.weight) if is_static else source[0]
    modules = nn.ModuleList([first, *list(source)[1:]])
    try:
        model = _traced(modules, with_pooled=with_pooled and not is_static and len(modules) > 2)
    except Exception as error:  # of the tracer, the exporter or the model itself
        raise ModelError(f"{folder}: torch cannot export it to ONNX ({reason_of(error)})") from error
    first_folder = Path(json.loads((folder / MODULES).read_text(encoding="utf-8"))[0]["path"])
    return ExportedEncoder(model, first_folder, source, is_static)


def _token_mean(vectors):
    """Return a module that takes padded tokens where StaticEmbedding takes bags of them: the mean of their vectors."""
    from torch import nn

    class TokenMean(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding.from_pretrained(vectors.detach().float())

        def forward(self, features: dict) -> dict:
            mask = features[TOKEN_MASK].unsqueeze(-1).float()  # (texts, tokens, 1)
            total = (self.words(features[TOKEN_IDS]) * mask).sum(dim=1)  # (texts, width)
            return features | {VECTORS: total / mask.sum(dim=1).clamp(min=1)}

    return TokenMean()


def _traced(modules, *, with_pooled: bool) -> onnx.ModelProto:
    """Return the ONNX model of a chain of modules; with `with_pooled` the second module's vectors are an output too."""
    import onnx
    import torch
    from torch import nn

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.chain = modules

        def forward(self, input_ids, attention_mask):
            features, steps = {TOKEN_IDS: input_ids, TOKEN_MASK: attention_mask}, []
            for module in self.chain:
                features = module(features)
                steps.append(features.get(VECTORS))
            return (steps[-1], steps[1]) if with_pooled else steps[-1]

    ids = torch.arange(14).reshape(2, 7) % 3
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    axes = {0: "texts", 1: "tokens"}
    outputs = [VECTORS, POOLED] if with_pooled else [VECTORS]
    # To a file: more than 2 GB of weights are written beside it.
    with (
        tempfile.TemporaryDirectory(prefix="statgraph-") as folder,
        warnings.catch_warnings(action="ignore"),
        torch.inference_mode(),
    ):
        # The exporter that needs no onnxscript; its graph is the one that ONNX Runtime's optimiser knows.
        torch.onnx.export(
            Chain().eval(),
            (ids, mask),
            f"{folder}/model.onnx",
            dynamo=False,
            opset_version=OPSET,
            input_names=[TOKEN_IDS, TOKEN_MASK],
            output_names=outputs,
            dynamic_axes={TOKEN_IDS: axes, TOKEN_MASK: axes} | {name: {0: "texts"} for name in outputs},
        )
        return onnx.load(f"{folder}/model.onnx")


def write_query_graph(folder: Path, precision: str = "float32") -> float:
    """Write `query.onnx` (float32) or `query.int8.onnx` into a query encoder's folder; return the largest difference of
    a component from sentence-transformers, with the longest of its vectors taken as 1.

    The graph holds a copy of the layers' weights, and points to the word vectors in `model.safetensors`. The file is
    installed only if its vectors are within the precision's tolerance, alone and padded; until then a previous one
    stays. sentence-transformers ignores it.

    Args:
        folder: a sentence-transformers folder with a Transformer.
        precision: `float32` or `int8`.

    Raises:
        DependencyError: if a package of the extra `onnx` is missing.
        ModelError: if the encoder is static or cannot be exported, or its vectors differ by more.
    """
    exported = exported_encoder(folder, with_pooled=True)
    if exported.is_static:
        raise ModelError(f"{folder}: a static encoder, which is fast without a graph; search it as it is")
    with replaced_file(folder / QUERY_GRAPHS[precision]) as staging:
        _point_to_words(exported, folder)
        model = _optimized(exported)
        if precision == "int8":
            model = _quantised(model)
        _add_facts(model, exported, folder)
        try:
            staging.write_bytes(model.SerializeToString())
        except ValueError as error:  # of protobuf, whose messages hold 2 GB
            raise ModelError(f"{folder}: too large for an ONNX file ({reason_of(error)})") from error
        ours = OnnxQueryEncoder(folder, precision, graph=staging)
        vectors = [np.concatenate([ours.encode([probe]) for probe in _PROBES]), ours.encode(_PROBES)]  # alone, padded
        expected = exported.source.encode(list(_PROBES), show_progress_bar=False)  # (probes, width)
        difference = max(largest_difference(each, expected) for each in vectors)
        if not difference <= TOLERANCES[precision]:
            raise ModelError(
                f"{folder}: in ONNX Runtime its vectors differ by {difference:.1e} from sentence-transformers', more "
                f"than {TOLERANCES[precision]:.0e}; {QUERY_GRAPHS[precision]} is not written"
            )
    return difference


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


def largest_difference(vectors: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of a component of vectors (texts, width), with the longest of those expected taken
    as 1; infinite where the shapes differ."""
    if vectors.shape != expected.shape:
        return float("inf")
    longest = max(float(np.linalg.norm(expected, axis=1).max()), np.finfo(np.float32).tiny)
    return float(np.abs(vectors - expected).max()) / longest


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


def _quantised(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with the matrices of its layers in 8 bits, a scale for each block of weights and inputs; fused
    attention stays in float32."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer

    root.handlers[:] = handlers  # the import sets up root logging, and the quantiser logs every node
    root.setLevel(level)
    logging.getLogger("onnxruntime.quantization").setLevel(logging.WARNING)
    quantizer = MatMulNBitsQuantizer(model, bits=8, block_size=_BLOCK, is_symmetric=True, accuracy_level=_BYTE_PRODUCTS)
    quantizer.process()
    return quantizer.model.model


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
