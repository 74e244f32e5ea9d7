"""Configurations that train within a second."""

from __future__ import annotations

from pathlib import Path

import pytest

from statgraph.systems.presets import resolve_config


@pytest.fixture
def quick_config(quick_settings):
    """Return a function that gives the configuration of a system with quick settings and more."""
    return lambda system="qabisar", *settings: resolve_config(system, (*quick_settings, *settings))


@pytest.fixture(scope="session")
def quick_transformer(tmp_path_factory: pytest.TempPathFactory, quick_backbone: Path, save_random_bert) -> Path:
    """Return the folder of a random BERT (2 layers, 16 wide, no dropout) over the words of `town_corpus`."""
    from tokenizers import Tokenizer, processors

    tokenizer = Tokenizer.from_file(str(next(quick_backbone.rglob("tokenizer.json"))))
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>"])
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    special = {"cls": "<s>", "sep": "</s>", "pad": "<pad>", "unk": "[UNK]"}
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "max_position_embeddings": 32}
    no_dropout = {"intermediate_size": 32, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    return save_random_bert(tmp_path_factory.mktemp("transformer"), tokenizer, special, **sizes, **no_dropout)
