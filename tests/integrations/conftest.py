"""A run of BM25 over three articles: nothing to train and no encoder to load."""

from __future__ import annotations

from pathlib import Path

import pytest

from statgraph.config import RunConfig
from statgraph.law.records import Article, Corpus


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    path = ("Rent Code", "The lease")
    articles = (
        Article("D1", "Art. 1", "The deposit is returned.", path, 1),
        Article("N1", "Art. 2", "Notice is given in writing.", path, 2, {"valid_to": "2020-01-01"}),
        Article("K1", "Art. 3", "Keys and deposit are handed back to whom the lease names.", path, 3),
    )
    return Corpus("rent", "en", "CC0", "written for the tests", articles, questions=())


@pytest.fixture
def run(write_run, tmp_path, corpus) -> Path:
    return write_run(tmp_path / "run", corpus, RunConfig(system="bm25", retriever="bm25"))
