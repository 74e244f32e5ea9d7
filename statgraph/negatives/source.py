"""What training asks of a source of hard negatives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


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
