"""Small encoders: the embedded one, unpacked once, and functions that write random or hand-made ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from statgraph.encoders.backbone import Backbone

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
WORDS = ("▁query", "▁passage", "▁the", "▁tenant", "▁landlord", "▁pays", "▁rent", "▁work", "▁child", "ing")
CHARACTERS = tuple("▁abcdefghijklmnopqrstuvwxyz:.0123456789")
VOCABULARY = (*SPECIAL, *WORDS, *CHARACTERS)


@pytest.fixture(scope="session")
def e5_folder(statgraph_cache: Path) -> Path:
    """Return the folder of the unpacked embedded encoder."""
    from statgraph.encoders.backbone import EMBEDDED_E5
    from statgraph.encoders.backbones import resolve_backbone

    return Path(resolve_backbone(EMBEDDED_E5).location)


@pytest.fixture(scope="session")
def e5_tokenizer(e5_folder: Path) -> Tokenizer:
    """Return the embedded encoder's tokenizer."""
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(e5_folder / "tokenizer.json"))


@pytest.fixture
def unigram() -> Tokenizer:
    """Return the tokenizer of `small_unigram`."""
    return small_unigram()


def small_unigram() -> Tokenizer:
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


@pytest.fixture(scope="session")
def word_level() -> Callable[..., Tokenizer]:
    """Return a function that makes a tokenizer of whole words, the first of which stands for the unknown ones."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    def make(words: Sequence[str], *, lower: bool = False) -> Tokenizer:
        tokenizer = Tokenizer(models.WordLevel({word: row for row, word in enumerate(words)}, unk_token=words[0]))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        if lower:
            tokenizer.normalizer = normalizers.Lowercase()
        return tokenizer

    return make


@pytest.fixture(scope="session")
def save_modules() -> Callable[..., Path]:
    """Return a function that writes a sentence-transformers folder of modules: a tokenizer's token vectors, or the
    model of a transformers folder with its pooling, and what comes behind."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, StaticEmbedding, Transformer

    def save(folder: Path, source: Tokenizer | Path, *behind, pooling=None, vectors=None, **settings) -> Path:
        if vectors is not None:
            modules = [StaticEmbedding(source, embedding_weights=vectors)]
        else:
            transformer = Transformer(str(source))
            width = transformer.get_embedding_dimension()
            modules = [transformer, *([Pooling(width, pooling_mode=pooling)] if pooling else [])]
        encoder = SentenceTransformer(modules=[*modules, *behind], device="cpu", **settings)
        encoder.save(str(folder), create_model_card=False)
        return folder

    return save


@pytest.fixture(scope="session")
def save_random_bert() -> Callable[..., Path]:
    """Return a function that writes a random BERT (32 wide where `sizes` say nothing else) for a tokenizer and its
    special tokens by kind."""
    import torch
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    def save(folder: Path, tokenizer: Tokenizer, special: dict[str, str], **sizes) -> Path:
        standard = {"hidden_size": 32, "num_attention_heads": 4, "intermediate_size": 64}
        pad_id = tokenizer.token_to_id(special["pad"])
        config = BertConfig(vocab_size=tokenizer.get_vocab_size(), pad_token_id=pad_id, **standard | sizes)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            BertModel(config, add_pooling_layer=False).save_pretrained(folder)
        named = {f"{kind}_token": token for kind, token in special.items()}
        inputs = ["input_ids", "attention_mask"]
        PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=inputs, **named).save_pretrained(folder)
        return folder

    return save


@pytest.fixture
def bytes_held() -> Callable[[Callable[[], object]], tuple[int, int]]:
    """Return a function that runs some work and gives the bytes that torch holds for it on the CPU: (those behind it,
    what it gives back included, the most at a time)."""
    from torch.profiler import ProfilerActivity, profile

    def measure(work: Callable[[], object]) -> tuple[int, int]:
        work()  # what is made once, such as an autocast copy
        with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
            result = work()
        changes = [event for event in profiled.profiler.kineto_results.events() if event.name() == "[memory]"]
        held = most = 0
        for change in sorted(changes, key=lambda event: event.start_ns()):
            held += change.nbytes()
            most = max(most, held)
        del result
        return held, most

    return measure


@pytest.fixture
def tiny_folder(save_tiny_as, tmp_path: Path) -> Path:
    """Return a folder with a random BERT (3 layers, 32 wide, 64 positions) and its tokenizer."""
    return save_tiny_as(tmp_path / "tiny")


@pytest.fixture
def tiny_backbone(tiny_folder: Path) -> Backbone:
    """Return the backbone of `tiny_folder`, mean-pooled and without prefixes."""
    from statgraph.encoders.backbone import Backbone

    return Backbone("mine", "transformer", str(tiny_folder), "mean")


@pytest.fixture(scope="session")
def save_tiny_as(save_random_bert, tmp_path_factory) -> Callable[[Path], Path]:
    """Return a function that writes the tiny model of `tiny_folder` to a folder of the test's choice."""
    special = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>"}
    kept = save_random_bert(
        tmp_path_factory.mktemp("tiny"), small_unigram(), special, num_hidden_layers=3, max_position_embeddings=64
    )
    return lambda folder: shutil.copytree(kept, folder)


@pytest.fixture
def save_bert(save_modules, tiny_folder: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that saves a query encoder over the tiny BERT: pooled as told, turned by a random map, brought
    to length 1."""
    import torch
    from sentence_transformers.sentence_transformer.modules import Normalize
    from transformers import AutoModel

    from statgraph.encoders.biencoder import dense_module

    def save(pooling: str) -> Path:
        generator = torch.Generator().manual_seed(1)
        dense = dense_module(torch.randn(32, 32, generator=generator), torch.randn(32, generator=generator))
        model = AutoModel.from_pretrained(tiny_folder, add_pooling_layer=False)
        with torch.no_grad():  # at their first size the weights say so little that a wrong layer would hardly show
            for name, weight in model.named_parameters():
                drawn = torch.randn(weight.shape, generator=generator) * weight.shape[-1] ** -0.5
                weight.copy_(1 + drawn if name.endswith("LayerNorm.weight") else 2 * drawn)
        model.save_pretrained(tiny_folder)
        prompts = {"prompts": {"query": "query: ", "document": "passage: "}, "default_prompt_name": "query"}
        return save_modules(tmp_path / "query_encoder", tiny_folder, dense, Normalize(), pooling=pooling, **prompts)

    return save


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep vectors in the test's own folder, and compute them in float32 whatever the processor can do."""
    import torch

    from statgraph.encoders import loading

    monkeypatch.setenv("STATGRAPH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(loading, "inference_dtype", lambda device: torch.float32)
    return tmp_path / "cache"


@pytest.fixture
def save_roberta(tiny_folder: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Return a function that saves an XLM-RoBERTa with the tiny BERT's tokenizer: its positions begin behind that of
    the padding, and only the first 16 of 18 tokens are read."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import XLMRobertaConfig, XLMRobertaModel

    def save(pooling: str) -> Path:
        with torch.random.fork_rng():
            torch.manual_seed(0)
            config = XLMRobertaConfig(vocab_size=53, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                                      intermediate_size=24, max_position_embeddings=18, pad_token_id=1,
                                      initializer_range=0.5)  # fmt: skip
            XLMRobertaModel(config, add_pooling_layer=False).save_pretrained(tiny_folder)
        modules = [Transformer(str(tiny_folder), max_seq_length=16), Pooling(16, pooling_mode=pooling)]
        SentenceTransformer(modules=modules, device="cpu").save(str(tmp_path / "roberta"), create_model_card=False)
        return tmp_path / "roberta"

    return save
