"""CuSINeS: curriculum-driven, structure-induced negative sampling (Santosh et al. 2024, section 3)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from statgraph.config import NegativesConfig
from statgraph.corpus.records import Corpus
from statgraph.lexical.bm25 import BM25
from statgraph.negatives.buckets import bucket_numbers
from statgraph.negatives.drawing import drawn_rows
from statgraph.negatives.fusion import reciprocal_ranks
from statgraph.negatives.questions import training_questions
from statgraph.negatives.schedules import SCHEDULES
from statgraph.negatives.source import EpochVectors, Ranking
from statgraph.registry import RANKINGS
from statgraph.settings import check_settings

QUESTIONS_AT_ONCE = 32
# Fused scores of the rankings that stay the same are kept from epoch to epoch up to this much, or else found again.
KEPT_BYTES = 512 * 2**20


class CusinesNegatives:
    """Draws negatives by difficulty: rankings fused, cut into buckets, and the buckets' shares change over the epochs.

    Holds one byte for each question and article (the bucket), and four where a fused score is kept.

    Raises:
        UsageError: for a value of `config` outside its limits.
        CorpusError: if a question has no article that could be drawn.
    """

    def __init__(self, corpus: Corpus, config: NegativesConfig, *, bm25: Callable[[], BM25]):
        check_settings(config, "negatives")
        self._config = config
        self._shares_of = SCHEDULES[config.schedule]
        self._questions = training_questions(corpus)
        rankings = [RANKINGS.load(name)(corpus, self._questions, config, bm25) for name in config.rankings]
        self._fixed = [ranking for ranking in rankings if not ranking.needs_vectors]
        self._changing = [ranking for ranking in rankings if ranking.needs_vectors]
        self.needs_vectors = bool(self._changing)
        self._fixed_scores: dict[int, np.ndarray] = {}  # by first question of a block: (questions, articles) float32
        self._shares: tuple[float, ...] = ()
        self._buckets: np.ndarray | None = None  # (questions, articles) int8; -1 where the article answers

    def begin_epoch(self, epoch: int, epochs: int, vectors: EpochVectors | None) -> None:
        """Set the epoch's shares, and cut the buckets anew where the model in training has a say in them.

        Raises:
            ValueError: if the epoch is not one of 1 to `epochs`, or vectors are needed and missing or misshapen.
        """
        if not 1 <= epoch <= epochs:
            raise ValueError(f"epoch {epoch} of {epochs}: epochs count from 1")
        self._shares = self._shares_of(self._config.buckets, epoch, epochs)
        if self.needs_vectors:
            self._check(vectors)
        elif self._buckets is not None:
            return
        n_questions, n_articles = len(self._questions.texts), self._questions.n_articles
        self._buckets = np.full((n_questions, n_articles), -1, dtype=np.int8)
        # Always the same blocks: the last bits of a matrix product depend on its shape, and a resumed run must agree.
        for first in range(0, n_questions, QUESTIONS_AT_ONCE):
            question_rows = np.arange(first, min(first + QUESTIONS_AT_ONCE, n_questions))
            scores = self._fixed_part(question_rows) + self._fused(self._changing, question_rows, vectors)
            for question_row, question_scores in zip(question_rows, scores, strict=True):
                wrong = self._questions.wrong_rows(question_row)
                self._buckets[question_row, wrong] = bucket_numbers(question_scores[wrong], self._config.buckets)

    def draw(self, question_rows: np.ndarray, per_pair: int, rng: np.random.Generator) -> np.ndarray:
        """Return article rows for each of the (pairs,) training questions, (pairs, per_pair) int64.

        Each is drawn from a bucket picked by its share, uniformly within it.

        Raises:
            ValueError: if no epoch has begun.
        """
        if self._buckets is None:
            raise ValueError("no epoch has begun; call begin_epoch before draw")
        uniforms = rng.random((len(question_rows), per_pair, 2))
        drawn = np.empty((len(question_rows), per_pair), dtype=np.int64)
        distinct, places = np.unique(question_rows, return_inverse=True)
        for place, question_row in enumerate(distinct):
            numbers = self._buckets[question_row]
            pools = [np.flatnonzero(numbers == number) for number in range(self._config.buckets)]
            for pair in np.flatnonzero(places == place):
                drawn[pair] = drawn_rows(pools, self._shares, uniforms[pair])
        return drawn

    def _check(self, vectors: EpochVectors | None) -> None:
        if vectors is None:
            raise ValueError("negatives.semantic = dynamic ranks by the model in training; give its vectors")
        given = len(vectors.questions), len(vectors.articles)
        wanted = len(self._questions.texts), self._questions.n_articles
        if given != wanted:
            raise ValueError(
                f"vectors of {given[0]} questions and {given[1]} articles; give those of the {wanted[0]} training "
                f"questions and {wanted[1]} articles"
            )

    def _fixed_part(self, question_rows: np.ndarray) -> np.ndarray:
        """Return the fused scores of the rankings that stay the same, (questions, articles) float32."""
        first = int(question_rows[0])
        if first in self._fixed_scores:
            return self._fixed_scores[first]
        scores = self._fused(self._fixed, question_rows, None)
        kept = sum(block.nbytes for block in self._fixed_scores.values())
        if self.needs_vectors and kept + scores.nbytes <= KEPT_BYTES:
            self._fixed_scores[first] = scores
        return scores

    def _fused(self, rankings: list[Ranking], question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the sums of reciprocal ranks among the articles that do not answer, (questions, articles) float32."""
        scores = np.zeros((len(question_rows), self._questions.n_articles), dtype=np.float32)
        for ranking in rankings:
            distances = ranking.distances(question_rows, vectors)
            for place, question_row in enumerate(question_rows):
                wrong = self._questions.wrong_rows(question_row)
                scores[place, wrong] += reciprocal_ranks(distances[place, wrong], self._config.rrf_k)
        return scores
