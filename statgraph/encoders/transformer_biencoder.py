"""The transformer pair: a query encoder and a hierarchical article encoder over one backbone, or over it and the same
one adapted to the statutes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from statgraph.artifacts import write_json, write_tensors
from statgraph.config import EncoderConfig
from statgraph.distributed import current_world
from statgraph.encoders.backbone import Backbone
from statgraph.encoders.biencoder import BiEncoder, dense_module, save_transformer
from statgraph.encoders.chunking import ChunkTokens, ChunkVectors, in_slices, slice_tokens
from statgraph.encoders.frozen import Tower, embedded_chunks, pooled
from statgraph.encoders.hierarchical import ChunkEncoder
from statgraph.encoders.loading import loaded_tower, most_tokens
from statgraph.encoders.similarity import similarity_of
from statgraph.errors import ModelError, UsageError
from statgraph.progress import Progress, counted, silent

ARTICLE_WEIGHTS = "model.safetensors"
ARTICLE_CONFIG = "config.json"


class TransformerBiEncoder(BiEncoder):
    """A query encoder (backbone, pooling, projection) and an article encoder (the same, with `ChunkEncoder`).

    The two towers start from one backbone, or the article side from the adapted one.

    With `encoder.train` none or head the backbone is frozen and inputs are its cached chunk vectors; with last-N and
    full they are tokens, and gradients reach its last N layers or all of it. More tokens than `encoder.slice_tokens` go
    through it in slices. The projections start as the identity.
    """

    encode_batch = 256

    def __init__(self, question: Tower, article: Tower, config: EncoderConfig):
        super().__init__()
        self.backbone = question.backbone
        self.config = config
        self.tokenizer = question.tokenizer
        model = question.model
        self.width = model.config.hidden_size
        self.similarity = similarity_of(config.similarity)
        self._max_question_tokens = most_tokens(question.tokenizer, model)
        self.frozen = config.train in ("none", "head")
        if not self.frozen:
            self.query_model = model
            if config.train != "full":
                for each in {id(m): m for m in (model, article.model)}.values():
                    freeze_lower(each, int(config.train.removeprefix("last-")))
            own = article.model is not model or config.shared
            self.article_model = article.model if own else _second(model)
            article = replace(article, model=self.article_model)
        self._towers = question, article  # whose models, where they are frozen, are no part of the module's state
        self.query_projection = _identity(self.width)
        self.article_projection = self.query_projection if config.shared else _identity(self.width)
        self.chunk_encoder = ChunkEncoder(
            self.width,
            max_chunks=max(1, config.max_tokens // max(1, config.chunk_tokens)),
            n_layers=config.article_layers,
            n_heads=config.article_heads,
            dropout=config.article_dropout,
            pooling=config.article_pooling,
            start=config.article_start,
        )
        if config.train == "none":
            self.requires_grad_(False)
        n_trained = sum(parameter.numel() for parameter in self.parameters() if parameter.requires_grad)
        self._slice_tokens = slice_tokens(config, model.config, question.device, n_parameters=n_trained)

    def question_inputs(self, texts: Sequence[str], progress: Progress = silent) -> ChunkVectors | ChunkTokens:
        """Return questions as one chunk each, at most as long as the backbone takes."""
        tower, limit = self._towers[0], self._max_question_tokens
        chunks = tower.chunks(texts, prefix=tower.backbone.query_prefix, chunk_tokens=limit, max_tokens=limit)
        return self._inputs(tower, chunks, counted(progress, "embedding questions"))

    def article_inputs(self, texts: Sequence[str], progress: Progress = silent) -> ChunkVectors | ChunkTokens:
        """Return articles or headings as chunks."""
        tower, config = self._towers[1], self.config
        sizes = {"chunk_tokens": config.chunk_tokens, "max_tokens": config.max_tokens}
        chunks = tower.chunks(texts, prefix=tower.backbone.passage_prefix, **sizes)
        return self._inputs(tower, chunks, counted(progress, "embedding articles"))

    def questions(self, inputs: ChunkVectors | ChunkTokens) -> torch.Tensor:
        vectors = self._chunk_vectors(inputs, self._towers[0])
        return self.similarity.finished(self.query_projection(vectors))

    def articles(self, inputs: ChunkVectors | ChunkTokens) -> torch.Tensor:
        chunks = self._chunk_vectors(inputs, self._towers[1])
        vectors = self.chunk_encoder(chunks, inputs.offsets)
        return self.similarity.finished(self.article_projection(vectors))

    def parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return one group with everything that this regime trains."""
        trained = [parameter for parameter in self.parameters() if parameter.requires_grad]
        return [{"params": trained, "lr": lr}] if trained else []

    def question_parameter_groups(self, *, lr: float, weight_lr: float) -> list[dict[str, Any]]:
        """Return the query projection's parameters, and those of its backbone where that trains."""
        towers = [self.query_projection] if self.frozen else [self.query_projection, self.query_model]
        trained = [parameter for tower in towers for parameter in tower.parameters() if parameter.requires_grad]
        return [{"params": trained, "lr": lr}] if trained else []

    def save_question_encoder(self, folder: Path) -> None:
        """Write a sentence-transformers folder: Transformer, Pooling, Dense, and for unit vectors Normalize; the prefix
        is its prompt."""
        from sentence_transformers.sentence_transformer.modules import Normalize

        projection = self.query_projection
        dense = dense_module(*self.similarity.query_projection(projection.weight.detach(), projection.bias.detach()))
        save_transformer(
            copy.deepcopy(self._towers[0].model).float().cpu(),
            self.tokenizer,
            folder,
            max_tokens=self._max_question_tokens,
            pooling=self.backbone.pooling,
            after=[dense, *[Normalize()] * self.similarity.unit_length],
            prompts=self.backbone.prompts,
            default_prompt_name="query",
        )

    def save_article_encoder(self, folder: Path) -> None:
        """Write the chunk encoder and projection (and the backbone, where it trained) with the configuration."""
        folder.mkdir(parents=True, exist_ok=True)
        parts = [name for name in ("chunk_encoder", "article_projection", "article_model") if hasattr(self, name)]
        state = {
            f"{part}.{name}": tensor for part in parts for name, tensor in getattr(self, part).state_dict().items()
        }
        write_tensors(folder / ARTICLE_WEIGHTS, state)
        backbone = self._towers[1].backbone
        about = {"backbone": backbone.name, "pooling": backbone.pooling, "prefix": backbone.passage_prefix}
        write_json(folder / ARTICLE_CONFIG, about)

    def _inputs(
        self, tower: Tower, chunks: ChunkTokens, progress: Callable[[int, int], None]
    ) -> ChunkVectors | ChunkTokens:
        """Return the chunks, or where the backbone is frozen its vectors of them."""
        if not self.frozen:
            return chunks
        cache = tower.vector_cache if current_world().is_first else None
        rounded = replace(tower, model=copy.deepcopy(tower.model))
        vectors = embedded_chunks(rounded, chunks.chunk_ids, cache=cache, progress=progress)
        return ChunkVectors(torch.from_numpy(vectors).float(), chunks.offsets)

    def _chunk_vectors(self, inputs: ChunkVectors | ChunkTokens, tower: Tower) -> torch.Tensor:
        if isinstance(inputs, ChunkVectors):
            return inputs.vectors

        def encode(tokens: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            hidden = tower.model(input_ids=tokens, attention_mask=mask).last_hidden_state
            return pooled(hidden.float(), mask, tower.backbone.pooling)

        return in_slices(encode, inputs, self._slice_tokens)


def build_transformer_biencoder(
    backbone: Backbone,
    config: EncoderConfig,
    corpus_texts: Sequence[str],
    device: torch.device,
    adapted: Backbone | None = None,
) -> TransformerBiEncoder:
    """Return the transformer pair before training.

    Args:
        adapted: the backbone adapted to the statutes, of the article side; with `encoder.shared` of both.

    Raises:
        ModelError: if a backbone cannot be loaded.
        UsageError: if `encoder.chunk_tokens` is too large.
    """
    kept_texts = corpus_texts if config.prune_vocabulary else None
    question = article = loaded_tower(adapted if adapted and config.shared else backbone, device, kept_texts)
    if adapted and not config.shared:
        article = loaded_tower(adapted, device, kept_texts)
    longest = most_tokens(article.tokenizer, article.model)
    if min(config.chunk_tokens, config.max_tokens) > longest:
        raise UsageError(
            f"encoder.chunk_tokens: {config.chunk_tokens} is more than backbone '{article.backbone.name}' takes; "
            f"use {longest} or less"
        )
    return TransformerBiEncoder(question, article, config)


def _second(model: nn.Module) -> nn.Module:
    """Return a copy that shares what is frozen in the model: of e5-small's 470 MB nearly all, its word vectors."""
    frozen = {id(parameter): parameter for parameter in model.parameters() if not parameter.requires_grad}
    return copy.deepcopy(model, frozen)


def _identity(width: int) -> nn.Linear:
    linear = nn.Linear(width, width)
    nn.init.eye_(linear.weight)
    nn.init.zeros_(linear.bias)
    return linear


# Where families keep their layers: in a list inside of a module that runs them.
_STACKS = ("encoder.layer", "transformer.layer", "encoder.layers", "layers")


def freeze_lower(model: nn.Module, n_upper: int) -> None:
    """Leave gradients on for the last `n_upper` layers alone, or for all layers where there are fewer.

    Raises:
        ModelError: if the layers are not where any known family has them.
    """
    modules = dict(model.named_modules())
    name = next((name for name in _STACKS if name in modules), None)
    if name is None:
        raise ModelError(f"encoder.train: the layers of a {type(model).__name__} are not known; use none, head or full")
    model.requires_grad_(False)
    modules[name][-n_upper:].requires_grad_(True)
