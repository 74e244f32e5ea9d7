"""Small encoders for the tests of texts: the embedded one, unpacked once, and tiny random ones made on the spot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from statgraph.encoders.backbones import Backbone

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = ("▁query", "▁passage", "▁the", "▁tenant", "▁landlord", "▁pays", "▁rent", "▁work", "▁child", "ing")
CHARACTERS = tuple("▁abcdefghijklmnopqrstuvwxyz:.0123456789")
VOCABULARY = (*SPECIAL, *WORDS, *CHARACTERS)


@pytest.fixture(scope="session")
def e5_folder(statgraph_cache: Path) -> Path:
    """Return the folder of the unpacked embedded encoder."""
    from statgraph.encoders.backbones import EMBEDDED_E5, resolve_backbone

    return Path(resolve_backbone(EMBEDDED_E5).location)


@pytest.fixture(scope="session")
def e5_tokenizer(e5_folder: Path) -> Tokenizer:
    """Return the embedded encoder's tokenizer."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(e5_folder / "tokenizer.json"))


@pytest.fixture
def unigram() -> Tokenizer:
    """Return a small Unigram tokenizer: ten words, the lower-case letters, `<s> text </s>`."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    scores = [0.0] * len(SPECIAL) + [-1.0] * len(WORDS) + [-5.0] * len(CHARACTERS)
    tokenizer = Tokenizer(models.Unigram(list(zip(VOCABULARY, scores, strict=True)), unk_id=3))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace(prepend_scheme="always")]
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


@pytest.fixture
def word_piece() -> Tokenizer:
    """Return a small WordPiece tokenizer."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "rent": 1, "##s": 2}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


@pytest.fixture
def tiny_folder(tmp_path: Path, unigram: Tokenizer) -> Path:
    """Return a folder with a random BERT (3 layers, 32 wide, 64 positions) and its tokenizer."""
    return save_tiny(tmp_path / "tiny", unigram)


@pytest.fixture
def tiny_backbone(tiny_folder: Path) -> Backbone:
    """Return the backbone of `tiny_folder`, mean-pooled and without prefixes."""
    from statgraph.encoders.backbones import Backbone

    return Backbone("mine", "transformer", str(tiny_folder), "mean")


@pytest.fixture
def save_tiny_as(unigram: Tokenizer) -> Callable[[Path], Path]:
    """Return a function that writes the tiny model of `tiny_folder` to a folder of the test's choice."""
    return lambda folder: save_tiny(folder, unigram)


@pytest.fixture
def save_bert(tiny_folder: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that saves a query encoder over the tiny BERT: pooled as told, turned by a random map, brought
    to length 1."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    from statgraph.encoders.biencoder import dense_module

    def save(pooling: str) -> Path:
        generator = torch.Generator().manual_seed(1)
        dense = dense_module(torch.randn(32, 32, generator=generator), torch.randn(32, generator=generator))
        transformer = Transformer(str(tiny_folder))
        with torch.no_grad():  # at their first size the weights say so little that a wrong layer would hardly show
            for name, weight in transformer.model.named_parameters():
                drawn = torch.randn(weight.shape, generator=generator) * weight.shape[-1] ** -0.5
                weight.copy_(1 + drawn if name.endswith("LayerNorm.weight") else 2 * drawn)
        modules = [transformer, Pooling(32, pooling_mode=pooling), dense, Normalize()]
        prompts = {"query": "query: ", "document": "passage: "}
        encoder = SentenceTransformer(modules=modules, device="cpu", prompts=prompts, default_prompt_name="query")
        encoder.save(str(tmp_path / "query_encoder"), create_model_card=False)
        return tmp_path / "query_encoder"

    return save


def save_tiny(folder: Path, unigram: Tokenizer) -> Path:
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    with torch.random.fork_rng():
        torch.manual_seed(0)
        config = BertConfig(
            vocab_size=len(VOCABULARY),
            hidden_size=32,
            num_hidden_layers=3,
            num_attention_heads=4,
            intermediate_size=64,
            max_position_embeddings=64,
            pad_token_id=1,
        )
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=unigram,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        model_input_names=["input_ids", "attention_mask"],
    ).save_pretrained(folder)
    return folder
