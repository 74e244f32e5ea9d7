"""A corpus of three articles that name and answer, runs of it whose encoder and vectors are written by hand, and an
encoder of another family than BERT."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.law.records import Article, Corpus, Question
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs import parts

WORDS = {"[UNK]": [0, 0], "deposit": [1, 0], "notice": [0, 1], "keys": [0.5, 0.5]}
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)


@pytest.fixture
def corpus() -> Corpus:
    lease, end = ("Rent Code", "The lease"), ("Rent Code", "The lease", "Its end")
    articles = (
        Article("D1", "Art. 1", "The deposit is returned as article 3 says.", lease, 1),
        Article("N1", "Art. 2", "Notice is given in writing.\x07", end, 2),
        Article("K1", "Art. 3", "Keys are handed back; article 3 and article 1 hold.", end, 3),
    )
    questions = (
        Question("q1", "who keeps the deposit", "train", ("D1", "K1")),
        Question("q2", "deposit when", "test", ("D1",)),
        Question("q3", "notice when", "test", ("N1",)),
    )
    return Corpus("rent", "en", "CC0", "written for the tests", articles, questions)


@pytest.fixture
def bm25_run(write_run, tmp_path, corpus) -> Path:
    return write_run(tmp_path / "bm25", corpus, RunConfig(system="bm25", retriever="bm25"))


@pytest.fixture
def dense_run(write_run, word_level, save_modules, tmp_path, corpus) -> Path:
    """Return a run for which "deposit" is east, "notice" north, "keys" both."""
    folder = write_run(tmp_path / "run", corpus, RunConfig())
    vectors = np.array(list(WORDS.values()), dtype=np.float32)
    save_modules(folder / parts.QUERY_ENCODER, word_level(list(WORDS)), vectors=vectors)
    ids = [article.article_id for article in corpus.articles]
    ArticleIndex.build(VECTORS, ids, device="cpu").save(folder / parts.INDEX)
    return folder


@pytest.fixture
def save_roberta(tiny_folder, tmp_path) -> Callable[[str], Path]:
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
