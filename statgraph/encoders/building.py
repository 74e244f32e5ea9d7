"""From a configuration to its pair of encoders."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import torch

from statgraph.config import EncoderConfig
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.backbones import check_sharing, resolve_backbone
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
        UsageError: if `encoder.article_backbone` names a second backbone where both sides share one, or a static one is
            to be trained in part.
    """
    backbone = _configured(config.backbone, config)
    check_sharing(config, static=backbone.kind == "static")
    if backbone.kind == "static":
        source = _configured(adapted, config) if adapted else None
        encoders: BiEncoder = build_static_biencoder(backbone, config, corpus_texts, source)
        encoders.to(device)
        return encoders
    article = adapted or config.article_backbone
    article_backbone = _configured(article, config) if article else backbone
    if config.shared:
        backbone = article_backbone
    encoders = build_transformer_biencoder(backbone, config, corpus_texts, device, article_backbone)
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
