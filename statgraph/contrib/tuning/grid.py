"""BM25 over a grid of its two parameters (G-DSR, appendix C): the texts are counted once and only weighed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from statgraph.config import Bm25Config
from statgraph.errors import UsageError
from statgraph.retrieval.lexical.analysis import analyser, question_analyser
from statgraph.retrieval.lexical.bm25 import best_rows, idf
from statgraph.settings import check_setting

_QUESTIONS_AT_ONCE = 64

# Of one ranking for each question (article rows, best first): the value of each metric.
Evaluate = Callable[[list[np.ndarray]], Mapping[str, float]]


@dataclass(frozen=True)
class Grid:
    """The values to try: of k1, each 0 or more, and of b, each from 0 to 1.

    Raises:
        UsageError: if there are none, or one occurs twice or is out of range.
    """

    k1s: Sequence[float]
    bs: Sequence[float]

    def __post_init__(self) -> None:
        _check_axis("k1", self.k1s)
        _check_axis("b", self.bs)


@dataclass(frozen=True)
class GridPoint:
    """One pair of parameters and the value of the metric there."""

    k1: float
    b: float
    value: float


@dataclass(frozen=True)
class GridResult:
    """Every metric at every point of a grid: `values[name]` is (k1s, bs) float64. `metric` is what counts as best, and
    between equals `tie_breaker`, if any. `by_question[name]` has every question's value for each point, in the order
    of k1 and then b; it is empty where they were not kept."""

    k1s: tuple[float, ...]
    bs: tuple[float, ...]
    values: Mapping[str, np.ndarray]
    metric: str
    tie_breaker: str = ""
    by_question: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    @property
    def best(self) -> GridPoint:
        """Return the first of `points`."""
        return self.points[0]

    @property
    def points(self) -> tuple[GridPoint, ...]:
        """Return every point, best first, equal ones by k1 and then b."""
        table = self.values[self.metric]
        second = self.values[self.tie_breaker or self.metric]
        ranked = sorted(
            np.ndindex(table.shape), key=lambda at: (-table[at], -second[at], self.k1s[at[0]], self.bs[at[1]])
        )
        return tuple(GridPoint(self.k1s[row], self.bs[column], float(table[row, column])) for row, column in ranked)


def bm25_grid(
    counts: TermCounts, grid: Grid, evaluate: Evaluate, *, metric: str, tie_breaker: str = "", depth: int
) -> GridResult:
    """Return what `evaluate` makes of the questions' rankings at every point of a grid: the rankings of `BM25`.

    Args:
        counts: the texts and questions.
        evaluate: gets (depth,) int64 rows for each question, best first, and returns at least `metric` and
            `tie_breaker`.
        metric: which of the values decides what is best.
        tie_breaker: which decides between equals, before the lower k1 and b.
        depth: how many articles are ranked.
    """
    values: dict[str, np.ndarray] = {}
    for row, k1 in enumerate(grid.k1s):
        for column, b in enumerate(grid.bs):
            for name, value in evaluate(list(counts.rankings(k1, b, depth))).items():
                values.setdefault(name, np.zeros((len(grid.k1s), len(grid.bs))))[row, column] = value
    return GridResult(tuple(map(float, grid.k1s)), tuple(map(float, grid.bs)), values, metric, tie_breaker)


class TermCounts:
    """How often each term of some questions occurs in each text: all that BM25 needs to rank the texts for them."""

    def __init__(self, texts: Sequence[str], language: str, questions: Sequence[str], *, stop_words: bool = True):
        terms_of, question_terms = analyser(language), question_analyser(language, stop_words=stop_words)
        asked = [Counter(question_terms(question)) for question in questions]
        vocabulary = {term: row for row, term in enumerate(sorted({term for terms in asked for term in terms}))}
        lengths = np.zeros(len(texts))
        counted = []
        for row, text in enumerate(texts):
            terms = terms_of(text)
            lengths[row] = len(terms)
            counted.append(Counter(term for term in terms if term in vocabulary))
        self._asked = _sparse(asked, vocabulary)  # (questions, terms)
        self._counts = _sparse(counted, vocabulary).T.tocsr()  # (terms, texts)
        holding = np.diff(self._counts.indptr)  # (terms,) texts that hold the term
        self._idf = np.repeat(idf(len(texts), holding), holding)
        mean = lengths.mean() if lengths.any() else 1.0
        self._lengths = (lengths / mean)[self._counts.indices]

    def rankings(self, k1: float, b: float, depth: int) -> Iterator[np.ndarray]:
        """Yield for each question the rows (int64) of its best `depth` texts, best first, ties by row."""
        weights = self._counts.copy()
        saturation = k1 * (1 - b + b * self._lengths)
        weights.data = (self._idf * self._counts.data / (self._counts.data + saturation)).astype(np.float32)
        for start in range(0, self._asked.shape[0], _QUESTIONS_AT_ONCE):
            scores = (self._asked[start : start + _QUESTIONS_AT_ONCE] @ weights).toarray()  # (questions, texts)
            for question_scores in scores:
                yield best_rows(question_scores, depth)


def _sparse(counted: Sequence[Counter], vocabulary: Mapping[str, int]):
    """Return the counts as a sparse matrix (texts, terms) float32."""
    from scipy.sparse import csr_matrix

    starts = np.cumsum([0, *map(len, counted)])
    columns = [vocabulary[term] for terms in counted for term in terms]
    data = [times for terms in counted for times in terms.values()]
    return csr_matrix((np.array(data, dtype=np.float32), columns, starts), shape=(len(counted), len(vocabulary)))


def _check_axis(name: str, values: Sequence[float]) -> None:
    if not len(values):
        raise UsageError(f"{name}: no values; give at least one")
    for value in values:
        check_setting(Bm25Config, name, value, place=name)
    if len(set(values)) < len(values):
        raise UsageError(f"{name}: a value occurs twice; give each once")
