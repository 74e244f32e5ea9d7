"""The corpus that a run holds itself: its articles, and what an ensemble's signals are made of beside them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from statgraph import artifacts
from statgraph.law.records import REFERENCES_ELSEWHERE, SET_KEY, SPLITS, Article, CitingText, Corpus, Question
from statgraph.law.synonyms import saved_text
from statgraph.runs import parts
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder

_TRAIN = SPLITS[0]


def write_training_texts(corpus: Corpus, folder: Path) -> None:
    """Write the training questions of every set and the usable citing texts of a corpus, a JSON array a line; those of
    dev and test stay out of the run."""
    questions = [question for question in corpus.questions if question.split == _TRAIN]
    rows: list[tuple[object, ...]] = [(of.question_id, of.text, of.article_ids, of.question_set) for of in questions]
    rows += [
        (of.citing_id, of.title, of.text, of.article_ids, of.question_id, of.part) for of in corpus.usable_citing()
    ]
    artifacts.write_json_lines(folder / parts.TRAINING_TEXTS, rows)


def own_corpus(run: RunFolder) -> Corpus:
    """Return a run's articles as a corpus, with the training questions and citing texts if it is an ensemble.

    Raises:
        RunError: if a part is damaged.
    """
    store, questions, citing = ArticleStore(run.folder), [], []
    if run.kind.has_members:
        path = run.folder / parts.TRAINING_TEXTS
        with artifacts.reading(path), path.open(encoding="utf-8") as file:
            for row in map(json.loads, file):
                if len(row) == 4:
                    questions.append(Question(row[0], row[1], _TRAIN, tuple(row[2]), {SET_KEY: row[3]}))
                else:
                    citing.append(CitingText(row[0], row[1], row[2], tuple(row[3]), *row[4:]))
    articles = []
    for row, of in enumerate(store):
        addresses, (first, after) = store.addresses(row), store.validity(row)
        known = {REFERENCES_ELSEWHERE: addresses, "valid_from": first, "valid_to": after}
        metadata = {name: value for name, value in known.items() if value}
        articles.append(Article(of.article_id, of.title, of.text, of.path, 0, metadata, of.number, of.rubric))
    return Corpus(
        run.corpus.name,
        run.corpus.language,
        licence=str(run.data.get("licence", "unknown")),
        source=str(run.data.get("source", "unknown")),
        articles=in_order(articles),
        questions=tuple(questions),
        citing=tuple(citing),
        synonyms=saved_text(run.synonyms),
    )


def in_order(articles: Iterable[Article]) -> tuple[Article, ...]:
    """Return articles with their places within their codes, in their order."""
    orders: Counter[str] = Counter()
    placed = []
    for article in articles:
        placed.append(replace(article, order=orders[article.code]))
        orders[article.code] += 1
    return tuple(placed)
