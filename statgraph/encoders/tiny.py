"""A transformer of a few thousand weights, which stands for a backbone where training is rehearsed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

WIDTH, LAYERS, HEADS, POSITIONS = 16, 2, 2, 64
_SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
_WORDS = 2000


def write_tiny_backbone(folder: Path, texts: Sequence[str]) -> Path:
    """Write a random BERT over the words of some texts as a transformers folder, and return the folder; equal texts
    give equal weights."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from statgraph.encoders.loading import quiet_transformers

    quiet_transformers()
    tokenizer = Tokenizer(models.WordLevel(unk_token=_SPECIAL["unk_token"]))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    special = list(_SPECIAL.values())
    tokenizer.train_from_iterator(texts, trainers.WordLevelTrainer(vocab_size=_WORDS, special_tokens=special))
    ends = [(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=ends)
    config = BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        pad_token_id=tokenizer.token_to_id("[PAD]"),
        hidden_size=WIDTH,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=4 * WIDTH,
        max_position_embeddings=POSITIONS,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    names = ["input_ids", "attention_mask"]
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_input_names=names, **_SPECIAL).save_pretrained(folder)
    return folder
