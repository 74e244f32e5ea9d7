"""The training questions as sources of negatives see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from statgraph.corpus.records import Corpus
from statgraph.errors import CorpusError


@dataclass(frozen=True)
class TrainingQuestions:
    """The questions of the training split in corpus order, and for each the sorted int64 rows of its answers."""

    texts: tuple[str, ...]
    answers: tuple[np.ndarray, ...]
    n_articles: int

    def wrong_rows(self, question_row: int) -> np.ndarray:
        """Return the sorted int64 rows of the articles that do not answer a question."""
        wrong = np.ones(self.n_articles, dtype=bool)
        wrong[self.answers[question_row]] = False
        return np.flatnonzero(wrong)


def training_questions(corpus: Corpus) -> TrainingQuestions:
    """Return the training questions with their answers.

    Raises:
        CorpusError: for questions that no article or every article answers; nothing is a negative of those.
    """
    questions = corpus.split("train")
    answers = tuple(np.unique(np.array(rows, dtype=np.int64)) for rows in corpus.label_rows(questions))
    problems = [
        f"{corpus.name}: question '{question.question_id}' is answered by {len(rows)} of {len(corpus.articles)} "
        "articles; hard negatives need an answer and an article that is none, so change its labels or set negatives "
        "to none"
        for question, rows in zip(questions, answers, strict=True)
        if not 0 < len(rows) < len(corpus.articles)
    ]
    if problems:
        raise CorpusError(problems)
    return TrainingQuestions(tuple(question.text for question in questions), answers, len(corpus.articles))
