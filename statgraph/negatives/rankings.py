"""Rankings by difficulty, by name. A new one is a file of its own and a line here (docs/extending.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import UsageError
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.hierarchical import HierarchicalRanking
from statgraph.negatives.questions import TrainingQuestions
from statgraph.negatives.semantic import SemanticRanking
from statgraph.negatives.sequential import SequentialRanking
from statgraph.negatives.source import EpochVectors


class Ranking(Protocol):
    """Says how difficult each article is as a negative of a question. `needs_vectors`: by the model in training, so
    anew each epoch; otherwise the same in all."""

    needs_vectors: bool

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return numbers (questions, articles), the smaller the more difficult; those of answers are not looked at."""
        ...


RANKINGS: dict[str, Callable[[Corpus, TrainingQuestions, NegativesConfig, Callable[[], BM25]], Ranking]] = {
    "semantic": SemanticRanking,
    "hierarchical": HierarchicalRanking,
    "sequential": SequentialRanking,
}


def rankings_of(
    corpus: Corpus, questions: TrainingQuestions, config: NegativesConfig, bm25: Callable[[], BM25]
) -> list[Ranking]:
    """Return the rankings that `config.rankings` names, in its order; the errors are those of `check_rankings`."""
    check_rankings(config)
    return [RANKINGS[name](corpus, questions, config, bm25) for name in config.rankings]


def check_rankings(config: NegativesConfig) -> None:
    """Return if `config.rankings` names rankings.

    Raises:
        UsageError: if it names none, one that is not known, or one twice.
    """
    known = ", ".join(RANKINGS)
    if not config.rankings:
        raise UsageError(f"negatives.rankings: is empty; name at least one of {known}")
    for name in config.rankings:
        if name not in RANKINGS:
            raise UsageError(f"negatives.rankings: '{name}' is not known; choose from {known}")
        if config.rankings.count(name) > 1:
            raise UsageError(f"negatives.rankings: '{name}' is named twice; name each ranking once")
