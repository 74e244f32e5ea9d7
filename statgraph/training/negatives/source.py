"""What training asks of a source of hard negatives, what the sources share, and the usual one: BM25's best."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.errors import CorpusError
from statgraph.law.records import Corpus
from statgraph.retrieval.lexical.bm25 import BM25

Bm25Source = Callable[[], BM25]  # makes the index of the articles where a source or a ranking asks for it


@dataclass(frozen=True)
class EpochVectors:
    """The vectors of the model in training; the inner product ranks.

    `questions` (training questions, width) and `articles` (articles, width), both float32.
    """

    questions: np.ndarray
    articles: np.ndarray


class NegativeSource(Protocol):
    """Draws articles that do not answer a training question. `needs_vectors`: `begin_epoch` must be given some."""

    needs_vectors: bool

    def begin_epoch(self, epoch: int, epochs: int, vectors: EpochVectors | None) -> None:
        """Get ready for epoch `epoch` of `epochs`, counted from 1; called again where a run goes on within it."""
        ...

    def draw(self, question_rows: np.ndarray, per_pair: int, rng: np.random.Generator) -> np.ndarray:
        """Return article rows for each of the (pairs,) training questions, (pairs, per_pair) int64.

        None answers its question, and none comes twice in a row of the result where there are enough. What is drawn
        depends on the generator and the epoch alone.
        """
        ...


class Ranking(Protocol):
    """Says how difficult each article is as a negative of a question. `needs_vectors`: by the model in training, so
    again each epoch; otherwise the same in all."""

    needs_vectors: bool

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return numbers (questions, articles), the smaller the more difficult; those of answers are not looked at."""
        ...


def no_negatives(corpus: Corpus, config: NegativesConfig, *, bm25: Bm25Source) -> None:
    """Return None: the source called `none` leaves the pairs without hard negatives."""


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
        "articles; hard negatives need an article that answers it and one that does not, so change its labels or set "
        "negatives to none"
        for question, rows in zip(questions, answers, strict=True)
        if not 0 < len(rows) < len(corpus.articles)
    ]
    if problems:
        raise CorpusError(*problems)
    return TrainingQuestions(tuple(question.text for question in questions), answers, len(corpus.articles))


def drawn_rows(pools: Sequence[np.ndarray], shares: Sequence[float], uniforms: np.ndarray) -> list[int]:
    """Return one row for each pair of `uniforms`, (count, 2) in [0, 1): its first number picks the pool by the shares,
    its second a row of that pool, each equally likely.

    No row comes twice before all have come; then all are there again. A pool that is used up leaves its share to the
    others in proportion to theirs, or to the last one with rows left if none of the others has a share.
    """
    left = [len(pool) for pool in pools]
    moved: list[dict[int, int]] = [{} for _ in pools]  # a shuffle (Fisher and Yates) that notes only what it moves
    rows = []
    for pool_uniform, row_uniform in uniforms.tolist():
        if not any(left):
            left = [len(pool) for pool in pools]
            moved = [{} for _ in pools]
        number = _picked(left, shares, pool_uniform)
        place, last = int(row_uniform * left[number]), left[number] - 1
        swaps = moved[number]
        rows.append(int(pools[number][swaps.get(place, place)]))
        swaps[place] = swaps.get(last, last)
        left[number] = last
    return rows


def _picked(left: Sequence[int], shares: Sequence[float], uniform: float) -> int:
    """Return the number of a pool that has rows left."""
    sums = list(accumulate(share if count else 0.0 for share, count in zip(shares, left, strict=True)))
    if not sums[-1]:
        return max(number for number, count in enumerate(left) if count)
    return bisect_right(sums, uniform * sums[-1])


class Bm25Negatives:
    """Draws uniformly from BM25's best `config.depth` articles that do not answer the question, or all if fewer
    (Karpukhin et al. 2020).

    Raises:
        CorpusError: if a question has no article that could be drawn.
    """

    needs_vectors = False

    def __init__(self, corpus: Corpus, config: NegativesConfig, *, bm25: Bm25Source):
        self._questions, self._depth, self._bm25 = training_questions(corpus), config.depth, bm25
        self._candidates: dict[int, np.ndarray] = {}  # by question: of many synthetic ones an epoch draws few

    def begin_epoch(self, epoch: int, epochs: int, vectors: EpochVectors | None) -> None:
        """Do nothing: the candidates are the same in all epochs."""

    def _candidates_of(self, question_row: int) -> np.ndarray:
        if question_row not in self._candidates:
            answers = self._questions.answers[question_row]
            ranked, _ = self._bm25().ranking(self._questions.texts[question_row], self._depth + len(answers))
            self._candidates[question_row] = ranked[~np.isin(ranked, answers)][: self._depth]
        return self._candidates[question_row]

    def draw(self, question_rows: np.ndarray, per_pair: int, rng: np.random.Generator) -> np.ndarray:
        """Return article rows for each of the (pairs,) training questions, (pairs, per_pair) int64."""
        uniforms = rng.random((len(question_rows), per_pair, 2))
        rows = [
            drawn_rows([self._candidates_of(question_row)], (1.0,), uniforms[pair])
            for pair, question_row in enumerate(question_rows.tolist())
        ]
        return np.array(rows, dtype=np.int64).reshape(len(question_rows), per_pair)
