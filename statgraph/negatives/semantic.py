"""Difficulty by meaning: what a retriever ranks high without its being an answer (CuSINeS, section 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.questions import TrainingQuestions
from statgraph.negatives.source import EpochVectors


class SemanticRanking:
    """Articles by their score for the question: the higher, the more difficult. `config.semantic` says whose score."""

    def __init__(
        self,
        corpus: Corpus,
        questions: TrainingQuestions,
        config: NegativesConfig,
        bm25: Callable[[], BM25],
    ):
        self.needs_vectors = config.semantic == "dynamic"
        self._texts = questions.texts
        self._bm25 = None if self.needs_vectors else bm25()

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the negative scores, (questions, articles) float32."""
        if self._bm25 is None:
            return -(vectors.questions[question_rows] @ vectors.articles.T)
        return -np.stack([self._bm25.scores(self._texts[row]) for row in question_rows])
