"""A village whose headings can be counted by hand, and a doc2query model that is tiny and untrained."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from statgraph.law.records import Article, Corpus, Question

WORDS = ("the", "lamp", "well", "is", "lit", "deep", "covered", "by", "night", "day", "who", "when", "may")


@pytest.fixture
def village() -> Corpus:
    """Six articles under two codes, both with "General rules"; one stands right under its code."""
    places = (
        ("L1", ("Lamp Code", "General rules"), "the lamp is lit"),
        ("L2", ("Lamp Code", "General rules"), "the lamp is lit by night"),
        ("L3", ("Lamp Code", "Duties", "Lighting"), "who lit the lamp by day"),
        ("W1", ("Well Code", "General rules"), "the well is deep"),
        ("W2", ("Well Code", "General rules"), "the well is covered by night"),
        ("W3", ("Well Code",), "the well"),
    )
    articles = tuple(
        Article(article_id, f"Art. {article_id}", text, path, order)
        for order, (article_id, path, text) in enumerate(places, start=1)
    )
    questions = (Question("q1", "when is the lamp lit", "train", ("L2",)),)
    return Corpus("village", "en", "CC0", "written for the tests", articles, questions)


@pytest.fixture(scope="session")
def t5_folder(tmp_path_factory: pytest.TempPathFactory, word_level) -> Path:
    """Return a folder with a random T5 (1 layer, 16 wide) and a tokenizer of thirteen words."""
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    words = word_level(("<unk>", "<pad>", "</s>", *WORDS))
    words.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    special = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    sizes = {
        "vocab_size": words.get_vocab_size(),
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 1,
        "num_heads": 2,
    }
    config = T5Config(**sizes, pad_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    folder = tmp_path_factory.mktemp("t5")
    with torch.random.fork_rng():
        torch.manual_seed(0)
        T5ForConditionalGeneration(config).save_pretrained(folder)
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=8, **special).save_pretrained(folder)
    return folder
