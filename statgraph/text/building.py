"""From a configuration to its pair of encoders."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from statgraph.config import EncoderConfig
from statgraph.text.backbones import resolve_backbone
from statgraph.text.biencoder import BiEncoder
from statgraph.text.static_biencoder import build_static_biencoder
from statgraph.text.transformer_biencoder import build_transformer_biencoder


def build_biencoder(config: EncoderConfig, corpus_texts: Sequence[str], device: torch.device) -> BiEncoder:
    """Return the encoders of a configuration before training, on a device.

    Args:
        corpus_texts: the articles (headings in front where they are on) and training questions, which decide the
            vocabulary of a static backbone and of a pruned one.
    """
    backbone = resolve_backbone(config.backbone)
    if backbone.kind == "static":
        return build_static_biencoder(backbone, config, corpus_texts).to(device)
    return build_transformer_biencoder(backbone, config, corpus_texts, device).to(device)
