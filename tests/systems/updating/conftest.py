"""The town's law after a reform, and a run trained on the law before it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.law.records import Article, Corpus

REPEALED, AMENDED, MOVED, MOVED_UP = "wells1", "dogs1", "carts2", "fences2"


@pytest.fixture(scope="session")
def reformed(town_corpus) -> Corpus:
    """Return the town's law with an article added under a new heading, one repealed, one amended, one under another
    heading, and one before its siblings; the question about the repealed one cites nothing more and is gone."""

    def now(article: Article) -> Article:
        if article.article_id == AMENDED:
            return replace(article, text="Dogs are taxed by day.")
        if article.article_id == MOVED:
            return replace(article, path=("Town Code", "Book III. Wheels"))
        return article

    kept = [now(article) for article in town_corpus.articles if article.article_id not in (REPEALED, MOVED_UP)]
    up = next(article for article in town_corpus.articles if article.article_id == MOVED_UP)
    added = Article("wheels1", "Art. 1 on wheels", "Carts are allowed.", ("Town Code", "Book III. Wheels"), 99)
    articles = tuple(replace(article, order=order) for order, article in enumerate([up, *kept, added], start=1))
    questions = tuple(question for question in town_corpus.questions if REPEALED not in question.article_ids)
    return replace(town_corpus, articles=articles, questions=questions)


@pytest.fixture
def run(train_town, tmp_path) -> Callable[..., Path]:
    """Return a function that gives a copy of a run trained on the law before the reform, for the test to change."""

    def copied(system: str = "qabisar", *settings: str) -> Path:
        return shutil.copytree(train_town(system, *settings), tmp_path / "run")

    return copied
