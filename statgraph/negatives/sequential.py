"""Difficulty by place in the text of the code: what is printed near an answer (CuSINeS, section 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.questions import TrainingQuestions
from statgraph.negatives.source import EpochVectors


class SequentialRanking:
    """Articles by how far their `order` is from that of the nearest answer in the same code: the nearer, the more
    difficult. Codes without an answer come last, all alike."""

    needs_vectors = False

    def __init__(
        self,
        corpus: Corpus,
        questions: TrainingQuestions,
        config: NegativesConfig,
        bm25: Callable[[], BM25],
    ):
        self._answers = questions.answers
        codes = {code: number for number, code in enumerate(dict.fromkeys(article.code for article in corpus.articles))}
        orders = np.array([article.order for article in corpus.articles], dtype=np.int64)
        self._other_code = int(np.ptp(orders)) + 1  # farther than any two articles of one code
        # All codes on one line, the gaps between them wider than any code: a distance says whether a code is left.
        starts = np.array([codes[article.code] for article in corpus.articles], dtype=np.int64) * 2 * self._other_code
        self._places = starts + orders - orders.min()  # (articles,)

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the distances to the nearest answer, (questions, articles) int64; an answer's own is 0."""
        return np.stack([self._to_nearest(self._answers[row]) for row in question_rows])

    def _to_nearest(self, answers: np.ndarray) -> np.ndarray:
        known = np.sort(self._places[answers])
        after = np.searchsorted(known, self._places)  # (articles,)
        to_next = known[after.clip(max=len(known) - 1)] - self._places
        to_last = self._places - known[(after - 1).clip(min=0)]
        return np.minimum(np.minimum(np.abs(to_next), np.abs(to_last)), self._other_code)
