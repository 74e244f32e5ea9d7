"""A query encoder of another family than BERT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer.modules import Pooling, Transformer


@pytest.fixture
def save_roberta(tiny_folder, tmp_path) -> Callable[[str], Path]:
    """Return a function that saves an XLM-RoBERTa with the tiny BERT's tokenizer: its positions begin behind that of
    the padding, and only the first 16 of 18 tokens are read."""
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
