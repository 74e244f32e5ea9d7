"""A query encoder as ONNX, as `statgraph export` and `statgraph quicken` write it."""

from __future__ import annotations

import json
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import nn

from statgraph.encoders.backbones import MODULES
from statgraph.encoders.inference.onnx_query import POOLED, TOKEN_IDS, TOKEN_MASK, TOKENS, VECTORS
from statgraph.encoders.loading import quiet_transformers
from statgraph.errors import RETRAIN, ModelError, reason_of
from statgraph.extras import require

if TYPE_CHECKING:
    import onnx
    from sentence_transformers import SentenceTransformer

OPSET = 17  # the first with LayerNormalization; later ones shut out older runtimes


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


def exported_encoder(folder: Path, *, with_pooled: bool = False) -> ExportedEncoder:
    """Return a query encoder as ONNX.

    sentence-transformers' own ONNX backend needs optimum-onnx, which takes transformers 4 alone (0.1.0: below 4.58).

    Args:
        folder: a sentence-transformers folder.
        with_pooled: whether a transformer's graph also returns its pooled vectors, `pooled` (texts, width), and
            those of its tokens, `token_embeddings` (texts, tokens, width), where a module follows the pooling.

    Raises:
        DependencyError: if onnx or onnxruntime is missing.
        ModelError: if the folder holds no encoder, or one that torch cannot export.
        Exception: whatever sentence-transformers raises for a damaged file.
    """
    require("onnx")
    from sentence_transformers import SentenceTransformer

    if not (folder / MODULES).is_file():
        raise ModelError(f"{folder}: no query encoder ({MODULES} is missing); {RETRAIN}")
    quiet_transformers()
    # ONNX Runtime's optimiser recognises plain attention, not that of scaled_dot_product_attention.
    plain = {"attn_implementation": "eager"}
    source = SentenceTransformer(str(folder), device="cpu", local_files_only=True, model_kwargs=plain)
    kind = type(source[0]).__name__
    if kind not in ("StaticEmbedding", "Transformer"):
        raise ModelError(f"{folder}: begins with {kind}, not Transformer or StaticEmbedding")
    is_static = kind == "StaticEmbedding"
    first = _TokenMean(source[0].embedding.weight) if is_static else source[0]
    chain = _Chain(first, *list(source)[1:])
    chain.with_pooled = with_pooled and not is_static and len(chain) > 2
    try:
        model = _traced(chain.eval())
    except Exception as error:  # of the tracer, the exporter or the model itself
        raise ModelError(f"{folder}: torch cannot export it to ONNX ({reason_of(error)})") from error
    first_folder = Path(json.loads((folder / MODULES).read_text(encoding="utf-8"))[0]["path"])
    return ExportedEncoder(model, first_folder, source, is_static)


class _TokenMean(nn.Module):  # type: ignore[misc]
    """Takes padded tokens where StaticEmbedding takes bags of them, and gives the mean of their vectors."""

    def __init__(self, vectors: torch.Tensor):
        super().__init__()
        self.words = nn.Embedding.from_pretrained(vectors.detach().float())

    def forward(self, features: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        mask = features[TOKEN_MASK].unsqueeze(-1).float()  # (texts, tokens, 1)
        total = (self.words(features[TOKEN_IDS]) * mask).sum(dim=1)  # (texts, width)
        return features | {VECTORS: total / mask.sum(dim=1).clamp(min=1)}


class _Chain(nn.Sequential):  # type: ignore[misc]
    """The modules of sentence-transformers one after the other; `with_pooled`, what the second gives and the vectors of
    the tokens come out too."""

    with_pooled = False

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, ...]:
        features, steps = {TOKEN_IDS: input_ids, TOKEN_MASK: attention_mask}, []
        for module in self:
            features = module(features)
            steps.append(features.get(VECTORS))
        return (steps[-1], steps[1], features[TOKENS]) if self.with_pooled else steps[-1]


def _traced(chain: _Chain) -> onnx.ModelProto:
    import onnx

    ids = torch.arange(14).reshape(2, 7) % 3
    mask = torch.ones_like(ids)
    mask[1, 4:] = 0
    axes = {0: "texts", 1: "tokens"}
    outputs = {VECTORS: {0: "texts"}} | ({POOLED: {0: "texts"}, TOKENS: axes} if chain.with_pooled else {})
    # To a file: more than 2 GB of weights are written beside it.
    with (
        tempfile.TemporaryDirectory(prefix="statgraph-") as folder,
        warnings.catch_warnings(action="ignore"),
        torch.inference_mode(),
    ):
        # The exporter that needs no onnxscript; its graph is the one that ONNX Runtime's optimiser knows.
        torch.onnx.export(
            chain,
            (ids, mask),
            f"{folder}/model.onnx",
            dynamo=False,
            opset_version=OPSET,
            input_names=[TOKEN_IDS, TOKEN_MASK],
            output_names=list(outputs),
            dynamic_axes={TOKEN_IDS: axes, TOKEN_MASK: axes} | outputs,
        )
        return onnx.load(f"{folder}/model.onnx")


def largest_difference(vectors: np.ndarray, expected: np.ndarray) -> float:
    """Return the largest difference of a component of vectors (texts, width), with the longest of those expected taken
    as 1; infinite where the shapes differ."""
    if vectors.shape != expected.shape:
        return float("inf")
    longest = max(float(np.linalg.norm(expected, axis=1).max()), float(np.finfo(np.float32).tiny))
    return float(np.abs(vectors - expected).max()) / longest
