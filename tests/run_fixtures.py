"""Three articles, a query encoder with two words and vectors by hand, and the run folders that they make."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.law.records import Article, Corpus, Question
from statgraph.runs import parts

VECTORS = {"D1": (1.0, 0.0), "N1": (0.0, 1.0), "X1": (0.8, -0.6)}


@pytest.fixture
def corpus() -> Corpus:
    """Articles on deposits, notice, and both in other words; a question in each split."""
    path = ("Rent Code", "Book I. Leases")
    articles = (
        Article("D1", "Art. 1", "The deposit is returned.", path, 1),
        Article("N1", "Art. 2", "Notice is given in writing.\nIts length: “three months” €", path, 2),
        Article("X1", "Art. 3", "Keys are handed back.", path, 3),
    )
    questions = (
        Question("q1", "who keeps the deposit", "train", ("D1",)),
        Question("q2", "deposit when", "test", ("D1", "N1")),
        Question("q3", "notice when", "test", ("X1",)),
    )
    return Corpus("rent", "en", "CC0", "written for the tests", articles, questions)


@pytest.fixture(scope="session")
def query_encoder(tmp_path_factory, word_level, save_modules) -> Path:
    """Return a sentence-transformers folder: "deposit" is east, "notice" is north, all else has no length."""
    from sentence_transformers.sentence_transformer.modules import Normalize

    vectors = np.array([[0, 0], [1, 0], [0, 1]], dtype=np.float32)
    words = word_level(["[UNK]", "deposit", "notice"])
    return save_modules(tmp_path_factory.mktemp("encoder"), words, Normalize(), vectors=vectors)


@pytest.fixture
def dense_run(write_run, tmp_path, corpus, query_encoder) -> Path:
    from statgraph.retrieval.index.article_index import ArticleIndex

    folder = write_run(tmp_path / "run", corpus, RunConfig())
    vectors = np.array(list(VECTORS.values()), dtype=np.float32)
    ArticleIndex.build(vectors, list(VECTORS), device="cpu").save(folder / parts.INDEX)
    (folder / parts.QUERY_ENCODER).symlink_to(query_encoder)
    return folder


@pytest.fixture
def bm25_run(write_run, tmp_path, corpus) -> Path:
    return write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"))
