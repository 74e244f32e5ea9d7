"""One side of a transformer pair as loaded: a backbone's tokenizer and model, cut to a corpus's pieces if asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import nn

from statgraph.cache import cache_root
from statgraph.encoders.backbones import Backbone
from statgraph.encoders.frozen import VectorCache, weights_fingerprint
from statgraph.encoders.loading import load_backbone
from statgraph.encoders.vocabulary import pruned_tokenizer, used_piece_ids


@dataclass(frozen=True, eq=False)
class Tower:
    """A backbone with its transformers fast tokenizer and model; `dtype` is what it runs in where it is frozen."""

    backbone: Backbone
    tokenizer: object
    model: nn.Module
    dtype: torch.dtype

    @cached_property
    def vector_cache(self) -> VectorCache:
        """Return the cache on disk of the frozen model's vectors."""
        name = weights_fingerprint(self.model, pooling=self.backbone.pooling, dtype=self.dtype)
        return VectorCache(cache_root() / "vectors" / name)


def loaded_tower(backbone: Backbone, dtype: torch.dtype, kept_texts: Sequence[str] | None = None) -> Tower:
    """Return a backbone as loaded, with only the pieces of `kept_texts` where they are given.

    Raises:
        ModelError: if it cannot be loaded or its vocabulary cannot be pruned.
    """
    tokenizer, model = load_backbone(backbone)
    if kept_texts is not None:
        tokenizer = _pruned(tokenizer, model, kept_texts)
    return Tower(backbone, tokenizer, model, dtype)


def _pruned(tokenizer, model, corpus_texts: Sequence[str]):
    """Return the tokenizer with the corpus's pieces only, and cut the model's embedding to them in place."""
    from transformers import PreTrainedTokenizerFast

    plain, kept_ids = pruned_tokenizer(
        tokenizer.backend_tokenizer, used_piece_ids(tokenizer.backend_tokenizer, corpus_texts)
    )
    rows = model.get_input_embeddings().weight.detach()[torch.from_numpy(kept_ids)]
    pad_id = plain.token_to_id(tokenizer.pad_token)
    model.set_input_embeddings(nn.Embedding.from_pretrained(rows.clone(), freeze=False, padding_idx=pad_id))
    model.config.vocab_size, model.config.pad_token_id = len(kept_ids), pad_id
    special = {
        name: token for name, token in tokenizer.special_tokens_map.items() if plain.token_to_id(token) is not None
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=plain,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **special,
    )
