"""CuSINeS: curriculum-driven, structure-induced negative sampling (Santosh et al. 2024, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra
from scipy.stats import rankdata

from statgraph.config import NegativesConfig
from statgraph.law.query import reciprocal_rank_fusion
from statgraph.law.records import Corpus
from statgraph.law.tree import tree_of
from statgraph.registry import RANKINGS
from statgraph.training.negatives.source import (
    Bm25Source,
    EpochVectors,
    Ranking,
    TrainingQuestions,
    drawn_rows,
    training_questions,
)


def curriculum_shares(buckets: int, epoch: int, epochs: int) -> tuple[float, ...]:
    """Return each bucket's share, easy to difficult, in a curriculum of as many phases as there are buckets.

    Phase i draws 0.7 from bucket i. The remaining 0.3 goes to the other buckets j in proportion to
    `buckets` - |i - j|: the nearer in difficulty, the more. Three buckets give the paper's shares: 0.7, 0.2, 0.1,
    then 0.15, 0.7, 0.15, then 0.1, 0.2, 0.7. One bucket has it all.

    Epoch e of n belongs to phase ceil(phases * e / n), five epochs each in the paper's 15. With fewer epochs than
    phases, epoch e is phase e and the last phases are left out: a curriculum begins with what is easy.
    """
    if buckets == 1:
        return (1.0,)
    phase = epoch if epochs < buckets else -(-buckets * epoch // epochs)
    weights = [buckets - abs(phase - 1 - number) for number in range(buckets)]
    others = sum(weights) - buckets  # the phase's own bucket has the weight `buckets`
    # As fractions of whole numbers, which round to the paper's decimals; 0.3 * 2 / 3 would not.
    return tuple(0.7 if number == phase - 1 else 3 * weight / (10 * others) for number, weight in enumerate(weights))


def hardest_shares(buckets: int, epoch: int, epochs: int) -> tuple[float, ...]:
    """Return all for the most difficult bucket."""
    return (0.0,) * (buckets - 1) + (1.0,)


def even_bounds(n_articles: int, config: NegativesConfig) -> tuple[int, ...]:
    """Return how many of the articles, easy to difficult, are below each cut between `config.buckets` even buckets."""
    return tuple(number * n_articles // config.buckets for number in range(1, config.buckets))


def depth_bounds(n_articles: int, config: NegativesConfig) -> tuple[int]:
    """Return the one cut that leaves the `config.depth` most difficult articles above it, or all if fewer."""
    return (max(n_articles - config.depth, 0),)


Bounds = Callable[[int, NegativesConfig], tuple[int, ...]]  # (articles, config) -> cuts
Shares = Callable[[int, int, int], tuple[float, ...]]  # (buckets, epoch, epochs) -> shares; epochs count from 1

# What `negatives.schedule` can name: how difficulty is cut into buckets, and what is drawn from each. Even shares of
# even buckets are not among them: each article would be as likely as any other, whatever the rankings.
SCHEDULES: dict[str, tuple[Bounds, Shares]] = {
    "curriculum": (even_bounds, curriculum_shares),
    "fixed": (depth_bounds, hardest_shares),
    "hardest": (even_bounds, hardest_shares),
}


def bucket_numbers(scores: np.ndarray, bounds: Sequence[int]) -> np.ndarray:
    """Return the bucket of each of the (n,) scores, int8: 0 holds the lowest (easy), `len(bounds)` the highest.

    Args:
        scores: at least one; the higher, the more difficult.
        bounds: how many scores are below each cut, ascending, less than n. Of equal scores at a cut, the first count as
            easier.
    """
    numbers = np.empty(len(scores), dtype=np.int8)
    numbers[np.argsort(scores, kind="stable")] = np.searchsorted(bounds, np.arange(len(scores)), side="right")
    return numbers


QUESTIONS_AT_ONCE = 32
# Fused scores of the rankings that stay the same are kept from epoch to epoch up to this much, or else computed again.
KEPT_BYTES = 512 * 2**20


class CusinesNegatives:
    """Draws negatives by difficulty: rankings fused, cut into buckets, and the buckets' shares change over the epochs.

    Holds one byte for each question and article (the bucket), and four where a fused score is kept.

    Raises:
        CorpusError: if a question has no article that could be drawn.
    """

    def __init__(self, corpus: Corpus, config: NegativesConfig, *, bm25: Bm25Source):
        self._config = config
        self._bounds, self._shares_of = SCHEDULES[config.schedule]
        self._questions = training_questions(corpus)
        self._n_buckets = len(self._bounds(self._questions.n_articles, config)) + 1
        rankings = [RANKINGS.load(name)(corpus, self._questions, config, bm25) for name in config.rankings]
        self._fixed = [ranking for ranking in rankings if not ranking.needs_vectors]
        self._changing = [ranking for ranking in rankings if ranking.needs_vectors]
        self.needs_vectors = bool(self._changing)
        self._fixed_scores: dict[int, np.ndarray] = {}  # by first question of a block: (questions, articles) float32
        self._shares: tuple[float, ...] = ()  # by bucket, easy to difficult
        self._buckets: np.ndarray | None = None  # (questions, articles) int8; -1 where the article answers

    def begin_epoch(self, epoch: int, epochs: int, vectors: EpochVectors | None) -> None:
        """Set the epoch's shares, and cut the buckets again where they depend on the model in training."""
        self._shares = self._shares_of(self._n_buckets, epoch, epochs)
        if self._buckets is not None and not self.needs_vectors:
            return
        n_questions, n_articles = len(self._questions.texts), self._questions.n_articles
        self._buckets = np.full((n_questions, n_articles), -1, dtype=np.int8)
        # Always the same blocks: the last bits of a matrix product depend on its shape, and a resumed run must agree.
        for first in range(0, n_questions, QUESTIONS_AT_ONCE):
            question_rows = np.arange(first, min(first + QUESTIONS_AT_ONCE, n_questions))
            scores = self._fixed_part(question_rows) + self._fused(self._changing, question_rows, vectors)
            for question_row, question_scores in zip(question_rows, scores, strict=True):
                wrong = self._questions.wrong_rows(int(question_row))
                bounds = self._bounds(len(wrong), self._config)
                self._buckets[question_row, wrong] = bucket_numbers(question_scores[wrong], bounds)

    def draw(self, question_rows: np.ndarray, per_pair: int, rng: np.random.Generator) -> np.ndarray:
        """Return article rows for each of the (pairs,) training questions, (pairs, per_pair) int64.

        A pair's negatives are spread over the buckets by their shares, 7, 2 and 1 of 10 at 0.7, 0.2 and 0.1: what a
        share leaves of a whole number is drawn at random. Within a bucket each article is equally likely.
        """
        assert self._buckets is not None  # since `begin_epoch`
        uniforms = rng.random((len(question_rows), per_pair, 2))
        # One number a pair, then at even steps (systematic sampling): each negative has its own part of the shares.
        uniforms[..., 0] = (uniforms[:, :1, 0] + np.arange(per_pair)) / max(per_pair, 1)
        drawn = np.empty((len(question_rows), per_pair), dtype=np.int64)
        distinct, places = np.unique(question_rows, return_inverse=True)
        for place, question_row in enumerate(distinct):
            numbers = self._buckets[question_row]
            pools = [np.flatnonzero(numbers == number) for number in range(len(self._shares))]
            for pair in np.flatnonzero(places == place):
                drawn[pair] = drawn_rows(pools, self._shares, uniforms[pair])
        return drawn

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
                ranks = rankdata(distances[place, wrong], method="min").astype(np.int64)
                scores[place, wrong] += reciprocal_rank_fusion([ranks], self._config.rrf_k).astype(np.float32)
        return scores


class SemanticRanking:
    """Articles by their score for the question: the higher, the more difficult. `config.semantic` names the scorer."""

    def __init__(self, corpus: Corpus, questions: TrainingQuestions, config: NegativesConfig, bm25: Bm25Source):
        self.needs_vectors = config.semantic == "dynamic"
        self._texts = questions.texts
        self._bm25 = None if self.needs_vectors else bm25()

    def distances(self, question_rows: np.ndarray, vectors: EpochVectors | None) -> np.ndarray:
        """Return the negative scores, (questions, articles) float32."""
        if self._bm25 is None:
            assert vectors is not None  # by `needs_vectors`
            similarities: np.ndarray = vectors.questions[question_rows] @ vectors.articles.T
            return -similarities
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
        distances: np.ndarray = nearest[self._article_parents].astype(np.int32) + 2  # (articles,)
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
        distances: np.ndarray = np.minimum(np.minimum(np.abs(to_next), np.abs(to_last)), self._other_code)
        return distances
