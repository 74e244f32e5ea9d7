"""A corpus of three articles that name and answer, and runs of it whose encoder and vectors are written by hand."""

from __future__ import annotations

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
