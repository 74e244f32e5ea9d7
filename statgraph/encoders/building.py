"""From a configuration to its pair of encoders."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import torch

from statgraph.config import EncoderConfig
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.backbones import check_static_training, resolve_backbone
from statgraph.encoders.biencoder import BiEncoder
from statgraph.encoders.static import build_static_biencoder
from statgraph.encoders.transformer_biencoder import build_transformer_biencoder


def build_biencoder(
    config: EncoderConfig,
    corpus_texts: Sequence[str],
    device: torch.device,
    adapted: str | None = None,
) -> BiEncoder:
    """Return the encoders of a configuration before training, on a device.

    Args:
        corpus_texts: the articles (headings in front where they are on) and training questions, which decide the
            vocabulary of a static backbone and of a pruned one.
        adapted: the folder of the backbone that was adapted to the statutes (`encoder.adapted`). It is the article
            side's, and with `encoder.shared` both sides'; a static backbone is distilled from it.

    Raises:
        UsageError: if a static backbone is to be trained in part, or `encoder.chunk_tokens` is too large.
    """
    backbone = _configured(config.backbone, config)
    source = _configured(adapted, config) if adapted else None
    if backbone.kind == "static":
        check_static_training(config)
        encoders: BiEncoder = build_static_biencoder(backbone, config, corpus_texts, source)
    else:
        encoders = build_transformer_biencoder(backbone, config, corpus_texts, device, source)
    encoders.to(device)
    return encoders


def _configured(name: str, config: EncoderConfig) -> Backbone:
    """Return a backbone with the pooling and prompts of a configuration; where neither it nor the backbone's folder
    names them, log what was chosen."""
    backbone = resolve_backbone(name)
    settings = {"pooling": config.pooling, "query_prefix": config.query_prompt, "passage_prefix": config.passage_prompt}
    given = {key: value for key, value in settings.items() if value != "auto"}
    if backbone.chosen and len(given) < len(settings):
        logging.getLogger(__name__).warning(
            "backbone '%s': %s; to change it set encoder.pooling, encoder.query_prompt and encoder.passage_prompt",
            name,
            backbone.chosen,
        )
    return replace(backbone, **given)
