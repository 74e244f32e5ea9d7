"""A corpus of three articles that name and answer, and runs of it whose encoder and vectors are written by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer, models, pre_tokenizers

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.corpus.records import Article, Corpus, Question
from statgraph.index.article_index import ArticleIndex

MODULES = "sentence_transformers.sentence_transformer.modules"
WORDS = ("[UNK]", "deposit", "notice", "keys")
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8]], dtype=np.float32)


@pytest.fixture
def corpus() -> Corpus:
    lease, end = ("Rent Code", "The lease"), ("Rent Code", "The lease", "Its end")
    return Corpus(
        name="rent",
        language="en",
        licence="CC0",
        source="written for the tests",
        articles=(
            Article("D1", "Art. 1", "The deposit is returned as article 3 says.", lease, 1),
            Article("N1", "Art. 2", "Notice is given in writing.\x07", end, 2),
            Article("K1", "Art. 3", "Keys are handed back; article 3 and article 1 hold.", end, 3),
        ),
        questions=(
            Question("q1", "who keeps the deposit", "train", ("D1", "K1")),
            Question("q2", "deposit when", "test", ("D1",)),
            Question("q3", "notice when", "test", ("N1",)),
        ),
    )


def static_encoder(folder: Path) -> None:
    """Write a sentence-transformers folder: "deposit" is east, "notice" north, "keys" both."""
    folder.mkdir()
    words = Tokenizer(models.WordLevel({word: row for row, word in enumerate(WORDS)}, unk_token="[UNK]"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    vectors = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0.5]], dtype=np.float32)
    save_file({"embedding.weight": vectors}, folder / "model.safetensors")
    module = {"idx": 0, "name": "0", "path": "", "type": f"{MODULES}.static_embedding.StaticEmbedding"}
    (folder / "modules.json").write_text(json.dumps([module]))


@pytest.fixture
def bm25_run(write_run, tmp_path, corpus) -> Path:
    return write_run(tmp_path / "bm25", corpus, RunConfig(system="bm25", retriever="bm25"))


@pytest.fixture
def dense_run(write_run, tmp_path, corpus) -> Path:
    folder = write_run(tmp_path / "run", corpus, RunConfig())
    static_encoder(folder / artifacts.RUN_QUERY_ENCODER)
    ids = [article.article_id for article in corpus.articles]
    ArticleIndex.build(VECTORS, ids, device="cpu").save(folder / artifacts.RUN_INDEX)
    return folder
