"""A transformer pair without weights: its parameters can be counted where the model is not at hand, or too large."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import torch
from torch import nn

from statgraph.config import EncoderConfig
from statgraph.encoders.backbones import Backbone, resolve_backbone
from statgraph.encoders.loading import Tower, most_tokens
from statgraph.encoders.slices import WHOLE
from statgraph.encoders.transformer_biencoder import TransformerBiEncoder
from statgraph.errors import ModelError, UsageError

# Sizes of the papers' backbone, for a machine that has not fetched it.
_KNOWN = {
    "camembert-base": {
        "vocab_size": 32005, "hidden_size": 768, "num_hidden_layers": 12,
        "num_attention_heads": 12, "intermediate_size": 3072, "max_position_embeddings": 514, "type_vocab_size": 1,
    },
}  # fmt: skip


@dataclass(frozen=True)
class Outline:
    """A pair as it trains on CUDA, with shapes and no weights (torch's meta device): `pair`, the transformer of the
    article side (`article_model`), and the longest question in tokens."""

    pair: TransformerBiEncoder
    article_model: nn.Module
    question_tokens: int


def outline_of(config: EncoderConfig) -> Outline:
    """Return the outline of a configuration.

    Raises:
        UsageError: if the backbone is static.
        ModelError: if its configuration is not on this machine.
    """
    backbone = resolve_backbone(config.backbone)
    if backbone.kind == "static":
        raise UsageError(
            f"encoder.backbone: '{config.backbone}' is a table of token vectors, for which no memory is predicted; "
            "name a transformer"
        )
    about = model_config(backbone)
    tokenizer = SimpleNamespace(model_max_length=512)
    config = replace(config, slice_tokens=WHOLE)
    with torch.device("meta"):
        from transformers import AutoModel

        question, article = (AutoModel.from_config(about) for _ in range(2))
        for model in (question, article):
            model.pooler = None
        towers = [Tower(backbone, tokenizer, question, torch.float32)] * 2
        if not config.shared and (config.article_backbone or config.adapted):
            towers[1] = Tower(backbone, tokenizer, article, torch.float32)
        pair = TransformerBiEncoder(*towers, config, torch.device("cuda"))
    return Outline(pair, towers[1].model, most_tokens(tokenizer, question))


def model_config(backbone: Backbone):
    """Return a backbone's transformers configuration, from its folder or the hub's cache; nothing is fetched.

    Raises:
        ModelError: if it is not there.
    """
    from transformers import AutoConfig, CamembertConfig

    try:
        return AutoConfig.from_pretrained(backbone.location, local_files_only=True)
    except (OSError, ValueError):
        if backbone.name in _KNOWN and not Path(backbone.location).is_dir():
            return CamembertConfig(**_KNOWN[backbone.name])
        raise ModelError(
            f"backbone '{backbone.name}': its config.json is not on this machine; fetch the model, or name its folder"
        ) from None
