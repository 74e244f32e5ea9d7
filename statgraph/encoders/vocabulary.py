"""Pruning a Unigram tokenizer, and the model behind it, to the word pieces that a corpus uses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.errors import ModelError

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

_BATCH = 1024
_WORD_START = "▁"  # a piece of its own in a Unigram vocabulary


def token_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> Iterator[list[int]]:
    """Yield the token ids of each text, without special tokens."""
    for start in range(0, len(texts), _BATCH):
        batch = list(texts[start : start + _BATCH])
        for encoding in tokenizer.encode_batch_fast(batch, add_special_tokens=False):
            yield encoding.ids


def used_piece_ids(tokenizer: Tokenizer, texts: Sequence[str]) -> np.ndarray:
    """Return the sorted ids (int64) of every piece that the texts are cut into, and of every single character in them.

    The single characters, and the mark of a word's beginning, let words that no text holds be spelt out in place of
    becoming unknown.
    """
    used: set[int] = set()
    for text_ids in token_ids(tokenizer, texts):
        used.update(text_ids)
    characters = {_WORD_START}.union(*texts)
    singles = map(tokenizer.token_to_id, characters | {character.lower() for character in characters})
    used.update(piece_id for piece_id in singles if piece_id is not None)
    return np.array(sorted(used), dtype=np.int64)


def pruned_tokenizer(tokenizer: Tokenizer, piece_ids: np.ndarray) -> tuple[Tokenizer, np.ndarray]:
    """Return (tokenizer, kept ids): the same tokenizer with only these pieces and its special tokens, renumbered.

    `kept_ids[new]` is the piece's id before. Texts whose pieces were all kept are cut as before, because the best
    segmentation stays the best when others go.

    Raises:
        ModelError: if the tokenizer is not a Unigram one.
    """
    from tokenizers import Tokenizer

    state = json.loads(tokenizer.to_str())
    if state["model"]["type"] != "Unigram":
        raise ModelError(
            f"a {state['model']['type']} vocabulary cannot be pruned, only a Unigram one; "
            "set encoder.prune_vocabulary=false"
        )
    vocabulary = state["model"]["vocab"]
    special = [token["id"] for token in state["added_tokens"] if token["id"] < len(vocabulary)]
    kept_ids = np.union1d(piece_ids, np.array([*special, state["model"]["unk_id"]], dtype=np.int64))
    kept_ids = kept_ids[kept_ids < len(vocabulary)]
    new_id = {int(old): new for new, old in enumerate(kept_ids)}
    state["model"]["vocab"] = [vocabulary[old] for old in kept_ids]
    state["model"]["unk_id"] = new_id[state["model"]["unk_id"]]
    state["added_tokens"] = [
        {**token, "id": new_id[token["id"]]} for token in state["added_tokens"] if token["id"] in new_id
    ]
    _renumber(state["post_processor"] or {}, new_id)
    return Tokenizer.from_str(json.dumps(state)), kept_ids


def prune_model(
    tokenizer: PreTrainedTokenizerFast, model: PreTrainedModel, corpus_texts: Sequence[str]
) -> PreTrainedTokenizerFast:
    """Cut a transformers model's embedding to the pieces of the texts, in place, and return its fast tokenizer with
    these pieces only."""
    import torch
    from torch import nn
    from transformers import PreTrainedTokenizerFast

    backend = tokenizer.backend_tokenizer
    pruned, kept_ids = pruned_tokenizer(backend, used_piece_ids(backend, corpus_texts))
    rows = model.get_input_embeddings().weight.detach()[torch.from_numpy(kept_ids)]
    pad_id = pruned.token_to_id(tokenizer.pad_token)
    model.set_input_embeddings(nn.Embedding.from_pretrained(rows.clone(), freeze=False, padding_idx=pad_id))
    model.config.vocab_size, model.config.pad_token_id = len(kept_ids), pad_id
    special = {
        name: token for name, token in tokenizer.special_tokens_map.items() if pruned.token_to_id(token) is not None
    }
    return PreTrainedTokenizerFast(
        tokenizer_object=pruned,
        model_max_length=tokenizer.model_max_length,
        model_input_names=tokenizer.model_input_names,
        **special,
    )


def _renumber(post_processor: dict[str, Any], new_id: Mapping[int, int]) -> None:
    """Put the new ids of the special tokens into the state of a tokenizer's post-processor."""
    for step in post_processor.get("processors", ()):
        _renumber(step, new_id)
    for token in post_processor.get("special_tokens", {}).values():
        token["ids"] = [new_id[old] for old in token["ids"]]
    for name in ("cls", "sep"):  # of BertProcessing and RobertaProcessing: [token, id]
        if name in post_processor:
            token, old = post_processor[name]
            post_processor[name] = [token, new_id[old]]
