"""A village whose headings can be counted by hand, and a doc2query model that is tiny and untrained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from statgraph.corpus.records import Article, Corpus, Question

WORDS = ("the", "lamp", "well", "is", "lit", "deep", "covered", "by", "night", "day", "who", "when", "may")


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """Run torch on one thread: the model here is too small for more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


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
def t5_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a random T5 (1 layer, 16 wide) and a tokenizer of thirteen words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    vocabulary = {word: row for row, word in enumerate(("<pad>", "</s>", "<unk>", *WORDS))}
    words = Tokenizer(WordLevel(vocabulary, unk_token="<unk>"))
    words.pre_tokenizer = Whitespace()
    words.post_processor = TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=8
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = T5Config(
            vocab_size=len(vocabulary),
            d_model=16,
            d_kv=8,
            d_ff=32,
            num_layers=1,
            num_heads=2,
            pad_token_id=0,
            eos_token_id=1,
            decoder_start_token_id=0,
        )
        model = T5ForConditionalGeneration(config)
    folder = tmp_path_factory.mktemp("t5")
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
