"""Rankings of articles by difficulty, which CuSINeS fuses (Santosh et al. 2024, section 3)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from statgraph.config import NegativesConfig
from statgraph.law.records import Corpus
from statgraph.law.tree import tree_of
from statgraph.training.negatives.source import Bm25Source, EpochVectors, TrainingQuestions


class SemanticRanking:
    """Articles by their score for the question: the higher, the more difficult. `config.semantic` names the scorer."""

    def __init__(self, corpus: Corpus, questions: TrainingQuestions, config: NegativesConfig, bm25: Bm25Source):
        self.needs_vectors = config.semantic == "dynamic"
        self._texts = questions.texts
        self._bm25 = None if self.needs_vectors else bm25()

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the negative scores, (questions, articles) float32."""
        if self._bm25 is None:
            return -(vectors.questions[question_rows] @ vectors.articles.T)
        return -np.stack([self._bm25.scores(self._texts[row]) for row in question_rows])


class HierarchicalRanking:
    """Articles by the length of the shortest path in the tree to the nearest answer: the shorter, the more difficult.

    Articles are leaves under the last heading of their path; each edge has length 1. Codes hang from a root by edges
    as long as the tree is deep, so that every path to another code is longer than any path within one.
    """

    needs_vectors = False

    def __init__(self, corpus: Corpus, questions: TrainingQuestions, config: NegativesConfig, bm25: Bm25Source):
        hierarchy = tree_of(corpus.articles)
        self._answers = questions.answers
        self._article_parents = hierarchy.article_parents
        n_headings, parents = len(hierarchy.headings), hierarchy.heading_parents
        edges = np.where(parents < 0, hierarchy.depth, 1)
        ends = np.arange(n_headings), np.where(parents < 0, n_headings, parents)  # the root comes last
        self._tree = csr_matrix((edges, ends), shape=(n_headings + 1, n_headings + 1))

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the path lengths to the nearest answer, (questions, articles) int32; an answer's own is 0."""
        return np.stack([self._to_nearest(self._answers[row]) for row in question_rows])

    def _to_nearest(self, answers: np.ndarray) -> np.ndarray:
        above = np.unique(self._article_parents[answers])
        nearest = dijkstra(self._tree, directed=False, indices=above, min_only=True)  # (headings + 1,)
        distances = nearest[self._article_parents].astype(np.int32) + 2  # (articles,)
        distances[answers] = 0
        return distances


class SequentialRanking:
    """Articles by how far their `order` is from that of the nearest answer in the same code: the nearer, the more
    difficult. Codes without an answer come last, all alike."""

    needs_vectors = False

    def __init__(self, corpus: Corpus, questions: TrainingQuestions, config: NegativesConfig, bm25: Bm25Source):
        self._answers = questions.answers
        codes = {code: number for number, code in enumerate(dict.fromkeys(article.code for article in corpus.articles))}
        orders = np.array([article.order for article in corpus.articles], dtype=np.int64)
        self._other_code = int(np.ptp(orders)) + 1  # farther than any two articles of one code
        # All codes on one line, the gaps between them wider than any code: a distance shows whether it leaves the code.
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
