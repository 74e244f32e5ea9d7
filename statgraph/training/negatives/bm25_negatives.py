"""Negatives from BM25's best, the usual choice for dense retrieval (Karpukhin et al. 2020)."""

from __future__ import annotations

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.law.records import Corpus
from statgraph.settings import check_settings
from statgraph.training.negatives.source import Bm25Source, EpochVectors, drawn_rows, training_questions


class Bm25Negatives:
    """Draws uniformly from BM25's best `config.depth` articles that do not answer the question, or all if fewer.

    Raises:
        UsageError: for a value of `config` outside its limits.
        CorpusError: if a question has no article that could be drawn.
    """

    needs_vectors = False

    def __init__(self, corpus: Corpus, config: NegativesConfig, *, bm25: Bm25Source):
        check_settings(config, "negatives")
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
