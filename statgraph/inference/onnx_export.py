"""A sentence-transformers query encoder exported to ONNX: the one model that `statgraph export` writes as it is and
`query_graph.py` optimises for ONNX Runtime."""

from __future__ import annotations

import io
import json
import warnings
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph.encoders.backbones import MODULES
from statgraph.encoders.quiet import quiet_transformers
from statgraph.errors import DependencyError, ModelError, reason_of
from statgraph.inference.onnx_query import POOLED, VECTORS

if TYPE_CHECKING:
    import onnx
    from sentence_transformers import SentenceTransformer

TOKEN_IDS, TOKEN_MASK = "input_ids", "attention_mask"
PACKAGES = ("onnx", "onnxruntime")
OPSET = 17  # the first with LayerNormalization; later ones shut out older runtimes
# Tracing needs a few word vectors only. The rest, most of a small encoder's size, is put in afterwards.
_TRACED_WORDS = 16


@dataclass(frozen=True, eq=False)
class ExportedEncoder:
    """A query encoder as ONNX, with a few of its word vectors only until they are put in.

    Inputs: `input_ids` and `attention_mask` (texts, tokens) int64, padded on the right. Output: `sentence_embedding`
    (texts, width) float32.

    Attributes:
        model: the graph, in standard operators.
        words_name: the initializer that the word vectors belong in.
        words: all word vectors, (pieces, width) float32.
        words_key: their name in the safetensors file of the first module.
        first_folder: that module's folder, relative to the encoder's.
        source: the encoder as sentence-transformers loads it.
    """

    model: onnx.ModelProto
    words_name: str
    words: np.ndarray
    words_key: str
    first_folder: Path
    source: SentenceTransformer

    @property
    def prompt(self) -> str:
        """Return what sentence-transformers puts before each question, blank for nothing."""
        return (self.source.prompts or {}).get(self.source.default_prompt_name) or ""

    @property
    def is_static(self) -> bool:
        """Return whether the encoder takes the mean of token vectors, without layers."""
        return _is_static(self.source)

    @property
    def pad_id(self) -> int:
        """Return the token that fills up shorter texts."""
        return 0 if self.is_static else self.source[0].tokenizer.pad_token_id or 0

    @property
    def max_tokens(self) -> int | None:
        """Return the longest text in tokens; None without a limit beside the tokenizer's own."""
        return None if self.is_static else self.source.max_seq_length

    def words_tensor(self, model: onnx.ModelProto) -> onnx.TensorProto:
        """Return the initializer of the word vectors in `model`, this encoder's or one derived from it.

        Raises:
            ModelError: if an optimiser has removed it.
        """
        for tensor in model.graph.initializer:
            if tensor.name == self.words_name:
                return tensor
        raise ModelError(f"the word vectors '{self.words_name}' are missing from the exported graph")


def check_packages() -> None:
    """Raise DependencyError if a package of the extra `onnx` is missing."""
    missing = [package for package in PACKAGES if find_spec(package) is None]
    if missing:
        raise DependencyError(f"{missing[0]}: not installed; run: pip install 'statgraph[onnx]'")


def exported_encoder(folder: Path, *, with_pooled: bool = False) -> ExportedEncoder:
    """Return a query encoder as ONNX.

    Args:
        folder: a sentence-transformers folder.
        with_pooled: whether a transformer's graph gives its pooled vectors too, `pooled` (texts, width), where
            something stands behind the pooling.

    Raises:
        DependencyError: if onnx or onnxruntime is missing.
        ModelError: if the folder holds no encoder, or one that torch cannot export.
        Exception: whatever sentence-transformers raises for a damaged file.
    """
    check_packages()
    import onnx
    from sentence_transformers import SentenceTransformer
    from torch import nn

    if not (folder / MODULES).is_file():
        raise ModelError(f"{folder}: no query encoder ({MODULES} is missing); train the run again")
    quiet_transformers()
    # ONNX Runtime's optimiser recognises plain attention, not that of scaled_dot_product_attention.
    plain = {"attn_implementation": "eager"}
    source = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=plain)
    first = source[0]
    if _is_static(source):
        mean, key = _token_mean(first.embedding.weight), "embedding.weight"
        words, model = mean.words, nn.ModuleList([mean, *list(source)[1:]])
        model_bytes = _traced(folder, model, mean, "words")
    elif type(first).__name__ == "Transformer":
        words, model = first.model.get_input_embeddings(), nn.ModuleList(source)
        key = _name_of(first.model, words.weight)
        owner, _, attribute = key.removesuffix(".weight").rpartition(".")
        pooled_at = 1 if with_pooled and len(source) > 2 else None
        model_bytes = _traced(folder, model, first.model.get_submodule(owner), attribute, pooled_at)
    else:
        raise ModelError(f"{folder}: begins with {type(first).__name__}, not Transformer or StaticEmbedding")
    name = f"chain.{_name_of(model, words.weight)}"
    first_folder = Path(json.loads((folder / MODULES).read_text(encoding="utf-8"))[0]["path"])
    words_array = words.weight.detach().float().numpy()
    return ExportedEncoder(onnx.load_from_string(model_bytes), name, words_array, key, first_folder, source)


def largest_difference(vectors: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of a component of vectors (texts, width), with the longest of those expected taken
    as 1; infinite where the shapes differ."""
    if vectors.shape != expected.shape:
        return float("inf")
    longest = max(float(np.linalg.norm(expected, axis=1).max()), np.finfo(np.float32).tiny)
    return float(np.abs(vectors - expected).max()) / longest


def _is_static(source: SentenceTransformer) -> bool:
    return type(source[0]).__name__ == "StaticEmbedding"


def _name_of(module, weight) -> str:
    return next(name for name, parameter in module.named_parameters() if parameter is weight)


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


def _traced(folder: Path, modules, owner, attribute: str, pooled_at: int | None = None) -> bytes:
    """Return the ONNX model of a chain of modules, of whose word vectors (`owner.attribute`) it has the first few; what
    the module at `pooled_at` gives is an output too."""
    import torch
    from torch import nn

    class Chain(nn.Module):
        def __init__(self):
            super().__init__()
            self.chain = modules

        def forward(self, input_ids, attention_mask):
            features, pooled = {TOKEN_IDS: input_ids, TOKEN_MASK: attention_mask}, None
            for place, module in enumerate(self.chain):
                features = module(features)
                if place == pooled_at:
                    pooled = features[VECTORS]
            return features[VECTORS] if pooled is None else (features[VECTORS], pooled)

    words = getattr(owner, attribute)
    few = words.weight.detach()[:_TRACED_WORDS].clone()
    ids = torch.arange(14).reshape(2, 7) % len(few)
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    axes = {0: "texts", 1: "tokens"}
    outputs = [VECTORS] if pooled_at is None else [VECTORS, POOLED]
    buffer = io.BytesIO()
    setattr(owner, attribute, nn.Embedding.from_pretrained(few))
    try:
        with warnings.catch_warnings(), torch.inference_mode():
            warnings.simplefilter("ignore")
            # The exporter that needs no onnxscript; its graph is the one that ONNX Runtime's optimiser knows.
            torch.onnx.export(
                Chain().eval(),
                (ids, mask),
                buffer,
                dynamo=False,
                opset_version=OPSET,
                input_names=[TOKEN_IDS, TOKEN_MASK],
                output_names=outputs,
                dynamic_axes={TOKEN_IDS: axes, TOKEN_MASK: axes} | {name: {0: "texts"} for name in outputs},
            )
    except Exception as error:  # of the tracer, the exporter or the model itself
        raise ModelError(f"{folder}: torch cannot export it to ONNX ({reason_of(error)})") from error
    finally:
        setattr(owner, attribute, words)
    return buffer.getvalue()
