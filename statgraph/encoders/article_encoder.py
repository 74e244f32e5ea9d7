"""The article encoder of a finished run, loaded to encode law that has changed since."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from statgraph import artifacts
from statgraph.config import EncoderConfig
from statgraph.encoders import static, transformer_biencoder
from statgraph.encoders.backbones import resolve_backbone
from statgraph.encoders.biencoder import BiEncoder, encoded
from statgraph.encoders.frozen import Tower
from statgraph.encoders.loading import loaded_tower
from statgraph.encoders.similarity import similarity_of
from statgraph.encoders.transformer_biencoder import TransformerBiEncoder
from statgraph.errors import RETRAIN, ModelError, RunError, damaged_run, marked, reason_of
from statgraph.progress import Progress, silent
from statgraph.runs import parts


class ArticleEncoder:
    """Turns articles and headings into the vectors that the run's own training would give them."""

    def __init__(self, encoders: BiEncoder, device: torch.device):
        self._encoders = encoders.eval()
        self._device = device

    def encode(self, texts: Sequence[str], progress: Progress = silent) -> np.ndarray:
        """Return vectors (texts, width) float32."""
        encoders = self._encoders
        inputs = encoders.article_inputs(texts, progress)
        vectors = encoded(encoders.articles, inputs, batch=encoders.encode_batch, device=self._device)
        return vectors.reshape(-1, encoders.width)


def load_article_encoder(run: Path, config: EncoderConfig, device: torch.device) -> ArticleEncoder:
    """Return the article encoder in a run folder.

    A static one is whole in `article_encoder/`. Of a transformer that folder holds what was trained; the backbone
    is the query encoder's, or where the article side began with another, it is read from the place that the folder
    names, which is outside of the run.

    Args:
        run: the run folder.
        config: the encoder's part of the run's configuration.

    Raises:
        RunError: if a file is missing or damaged, or a backbone outside of the run can no longer be loaded.
    """
    folder = run / parts.ARTICLE_ENCODER
    try:
        if (folder / transformer_biencoder.ARTICLE_CONFIG).is_file():
            encoders = _transformer(run, folder, config, device)
        else:
            encoders = _static(folder, config)
    except RunError:
        raise
    except Exception as error:  # each file of the folders has a reader with exceptions of its own
        raise damaged_run(f"{folder}: the article encoder cannot be loaded ({reason_of(error)})") from None
    return ArticleEncoder(encoders.to(device), device)


def _static(folder: Path, config: EncoderConfig) -> static.StaticBiEncoder:
    from safetensors.torch import load_file
    from tokenizers import Tokenizer

    state = load_file(folder / static.ARTICLE_WEIGHTS)
    tokenizer = Tokenizer.from_file(str(folder / static.TOKENIZER))
    encoder = static.StaticEncoder(state["vectors"], state["weights"], similarity=similarity_of(config.similarity))
    return static.StaticBiEncoder(tokenizer, encoder, trained=False, max_tokens=config.max_tokens)


def _transformer(run: Path, folder: Path, config: EncoderConfig, device: torch.device) -> TransformerBiEncoder:
    from safetensors.torch import load_file

    state = load_file(folder / transformer_biencoder.ARTICLE_WEIGHTS)
    about = artifacts.read_json(folder / transformer_biencoder.ARTICLE_CONFIG)
    question = article = loaded_tower(resolve_backbone(str(run / parts.QUERY_ENCODER)), device)
    if not config.shared and about["backbone"] != config.backbone:
        article = _outside(folder, about["backbone"], config, device)
    of_articles = replace(article.backbone, pooling=about["pooling"], passage_prefix=about["prefix"])
    encoders = TransformerBiEncoder(question, replace(article, backbone=of_articles), config)
    for part in {name.partition(".")[0] for name in state}:
        weights = {name.removeprefix(f"{part}."): tensor for name, tensor in state.items() if name.startswith(part)}
        getattr(encoders, part).load_state_dict(weights)
    return encoders


def _outside(folder: Path, name: str, config: EncoderConfig, device: torch.device) -> Tower:
    """Return the tower of a backbone that the run only names."""
    if config.prune_vocabulary:
        raise RunError(
            f"{folder}: its backbone '{name}' was cut to the word pieces of the law as it was, and the run does not "
            "hold them; train again, with encoder.prune_vocabulary=false to be able to update"
        )
    try:
        return loaded_tower(resolve_backbone(name), device)
    except ModelError as error:
        raise RunError(
            f"{folder}: its backbone is outside of the run and gone ({marked(error)}); put it back, or {RETRAIN}"
        ) from None
