"""Training pairs: texts that ask, articles that answer, and which articles may never count as wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from statgraph.augmentation.records import SyntheticQuestion
from statgraph.corpus.records import Corpus, Heading


@dataclass(frozen=True)
class PairSource:
    """Texts that ask, each with the rows of every article that answers it.

    `pairs` (pairs, 2) int64 holds (text row, article row): what training draws from. The answers of text t are
    `answers[offsets[t]:offsets[t + 1]]`, sorted.
    """

    name: str
    texts: tuple[str, ...]
    pairs: np.ndarray
    answers: np.ndarray
    offsets: np.ndarray

    def answers_of(self, text_row: int) -> np.ndarray:
        """Return the sorted article rows that answer a text."""
        return self.answers[self.offsets[text_row] : self.offsets[text_row + 1]]


def gold_pairs(corpus: Corpus, split: str = "train") -> PairSource:
    """Return the questions of a split with their labelled articles; question order is that of `corpus.split(split)`."""
    questions = corpus.split(split)
    rows = corpus.label_rows(questions)
    return _source("gold", [question.text for question in questions], rows, rows)


def heading_pairs(corpus: Corpus) -> PairSource:
    """Return headings as questions: a heading's title, and its parent's title with it, for the articles right under it.

    Any article under a heading of the same wording, at any depth, answers too: "General provisions" stands in many
    places, and none of them is wrong.
    """
    direct: dict[str, set[int]] = {}
    below: dict[str, set[int]] = {}
    for row, article in enumerate(corpus.articles):
        for depth in range(1, len(article.path) + 1):
            for wording in _wordings(Heading(article.path[:depth])):
                below.setdefault(wording, set()).add(row)
                if depth == len(article.path):
                    direct.setdefault(wording, set()).add(row)
    texts = sorted(direct)
    return _source("headings", texts, [direct[text] for text in texts], [below[text] for text in texts])


def synthetic_pairs(corpus: Corpus, questions: Sequence[SyntheticQuestion]) -> PairSource:
    """Return synthetic questions with the articles that they were made for; equal texts are one question."""
    answers: dict[str, set[int]] = {}
    for question in questions:
        answers.setdefault(question.text, set()).update(corpus.article_rows[name] for name in question.article_ids)
    rows = list(answers.values())
    return _source("synthetic", list(answers), rows, rows)


def _wordings(heading: Heading) -> set[str]:
    parent = heading.parent
    return {heading.title, f"{parent.title} {heading.title}"} if parent else {heading.title}


def _source(
    name: str, texts: Sequence[str], drawn: Sequence[Iterable[int]], answers: Sequence[Iterable[int]]
) -> PairSource:
    pairs = [(text_row, row) for text_row, rows in enumerate(drawn) for row in sorted(rows)]
    return PairSource(
        name,
        tuple(texts),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array([row for rows in answers for row in sorted(rows)], dtype=np.int64),
        np.concatenate([[0], np.cumsum([len(set(rows)) for rows in answers])]).astype(np.int64),
    )
