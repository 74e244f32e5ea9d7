"""What training asks of a source of hard negatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.lexical.bm25 import BM25


@dataclass(frozen=True)
class EpochVectors:
    """The model in training as it stands: the inner product ranks.

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
    anew each epoch; otherwise the same in all."""

    needs_vectors: bool

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return numbers (questions, articles), the smaller the more difficult; those of answers are not looked at."""
        ...


def no_negatives(corpus: Corpus, config: NegativesConfig, *, bm25: Callable[[], BM25]) -> None:
    """Return None: the source called `none` leaves the pairs without hard negatives."""
