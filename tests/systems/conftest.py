"""Configurations that train within a second."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from statgraph.systems.presets import resolve_config


@pytest.fixture(autouse=True)
def one_thread():
    """Compute on one thread: on vectors this small several wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def quick_config(quick_settings):
    """Return a function that gives the configuration of a system with quick settings and more."""
    return lambda system="qabisar", *settings: resolve_config(system, (*quick_settings, *settings))


@pytest.fixture(scope="session")
def quick_transformer(tmp_path_factory: pytest.TempPathFactory, quick_backbone: Path) -> Path:
    """Return the folder of a random BERT (2 layers, 16 wide, no dropout) over the words of `town_corpus`."""
    from tokenizers import Tokenizer, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer.from_file(str(next(quick_backbone.rglob("tokenizer.json"))))
    tokenizer.add_special_tokens(["<s>", "</s>", "<pad>"])
    ends = [(token, tokenizer.token_to_id(token)) for token in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
    names = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "[UNK]"}
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        pad_token_id=tokenizer.token_to_id("<pad>"),
    )
    folder = tmp_path_factory.mktemp("quick_transformer")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names).save_pretrained(folder)
    return folder
