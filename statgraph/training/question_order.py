"""A curriculum over the training questions: from the easy ones to all of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from statgraph.lexical.bm25 import BM25
from statgraph.training.pairs import PairSource
from statgraph.training.seeding import derived_seed


class QuestionOrder:
    """Which of the training questions an epoch draws from: of E epochs, number e draws from the easiest e / E of them,
    and the last from all. How difficult a question is, CuSINeS leaves to future work (its section on limitations).

    Args:
        difficulty: a number for each training question, (questions,), the smaller the easier; ties by position.
    """

    def __init__(self, difficulty: np.ndarray):
        self._places = np.empty(len(difficulty), dtype=np.int64)
        self._places[np.argsort(difficulty, kind="stable")] = np.arange(len(difficulty))

    def pairs_of(self, pairs: np.ndarray, epoch: int, epochs: int) -> np.ndarray:
        """Return those of the (pairs, 2) gold pairs that epoch `epoch` of `epochs`, counted from 1, draws from."""
        return pairs[self._places[pairs[:, 0]] < math.ceil(len(self._places) * epoch / epochs)]


def question_order(name: str, gold: PairSource, bm25: Callable[[], BM25], seed: int) -> QuestionOrder | None:
    """Return the order called `name`, or None for `shuffled`, which has none.

    `lexical`: by BM25's rank of the question's best answer; a question in the law's own words is easy. `labels`: by the
    number of its answers; one that many articles answer leaves open what it asks. `random`: drawn by the seed, to tell
    an order's worth from that of beginning with few questions.

    Raises:
        ValueError: for another name.
    """
    if name == "shuffled":
        return None
    if name == "lexical":
        return QuestionOrder(_best_ranks(gold, bm25()))
    if name == "labels":
        return QuestionOrder(np.diff(gold.offsets))
    if name == "random":
        rng = np.random.default_rng(derived_seed(seed, "question order"))
        return QuestionOrder(rng.permutation(len(gold.texts)))
    raise ValueError(f"'{name}' is no order of questions; see Stage1Config.question_order")


def _best_ranks(gold: PairSource, index: BM25) -> np.ndarray:
    """Return how many articles BM25 puts before each question's best answer, (questions,)."""
    ranks = np.empty(len(gold.texts), dtype=np.int64)
    for row, text in enumerate(gold.texts):
        scores = index.scores(text)
        ranks[row] = np.count_nonzero(scores > scores[gold.answers_of(row)].max())
    return ranks
