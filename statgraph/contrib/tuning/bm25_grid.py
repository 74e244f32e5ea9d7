"""BM25's two parameters over a grid, on a corpus's dev questions (G-DSR, appendix C): the texts are counted once and
only weighed again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from statgraph import artifacts
from statgraph.config import Bm25Config
from statgraph.encoders.article_text import article_texts
from statgraph.errors import DependencyError, UsageError
from statgraph.evaluation.metrics import DEPTH, QUALITY, aggregate, deciding_metric, question_metrics
from statgraph.law.records import Corpus, checked_corpus
from statgraph.retrieval.lexical.analysis import analyser, question_analyser
from statgraph.retrieval.lexical.bm25 import best_rows, idf
from statgraph.retrieval.search.evaluating import split_questions
from statgraph.settings import check_setting

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SPLIT = "dev"
GRID = "grid.json"
HEAT_MAP = "grid.png"

# The grid of G-DSR's figure: k1 from 0 to 8, b from 0 to 1.
DEFAULT_K1S = tuple(step / 2 for step in range(17))
DEFAULT_BS = tuple(step / 10 for step in range(11))
_QUESTIONS_AT_ONCE = 64


@dataclass(frozen=True)
class GridPoint:
    """One pair of parameters and the value of the metric there."""

    k1: float
    b: float
    value: float


@dataclass(frozen=True)
class GridResult:
    """Every metric at every point of a grid: `values[name]` is (k1s, bs) float64. `metric` is what counts as best, and
    between equals quality. `by_question[name]` has every question's value for each point, in the order of k1 and then
    b."""

    k1s: tuple[float, ...]
    bs: tuple[float, ...]
    values: Mapping[str, np.ndarray]
    metric: str
    by_question: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    @property
    def best(self) -> GridPoint:
        """Return the first of `points`."""
        return self.points[0]

    @property
    def points(self) -> tuple[GridPoint, ...]:
        """Return every point, best first, equal ones by k1 and then b."""
        table, quality = self.values[self.metric], self.values[QUALITY]
        ranked = sorted(
            np.ndindex(table.shape), key=lambda at: (-table[at], -quality[at], self.k1s[at[0]], self.bs[at[1]])
        )
        return tuple(GridPoint(self.k1s[row], self.bs[column], float(table[row, column])) for row, column in ranked)


def tuned_bm25(
    corpus: Corpus,
    k1s: Sequence[float] = DEFAULT_K1S,
    bs: Sequence[float] = DEFAULT_BS,
    *,
    select_by: str = QUALITY,
    heading_path: bool = True,
    stop_words: bool = False,
    out: Path | str | None = None,
) -> GridResult:
    """Return each metric of BM25 at every pair of `k1s` and `bs`, as means over the dev questions.

        tuned_bm25(corpus, k1s=(0.9, 2.5), bs=(0.2, 0.4)).best.k1

    Args:
        corpus: the corpus.
        k1s, bs: the values of the grid.
        select_by: what decides which is best, if the corpus is not too small for it; quality decides between equals.
        heading_path: put the headings in front of an article's text.
        stop_words: match the stop words of a question too.
        out: a folder to write the grid to, as `write_grid` does; None to write nothing.

    Raises:
        UsageError: if there are no dev questions, or a value of the grid is out of range.
    """
    _check_axis("k1", k1s)
    _check_axis("b", bs)
    questions = split_questions(checked_corpus(corpus), SPLIT)
    texts = article_texts(corpus.articles, heading_path=heading_path)
    counts = TermCounts(texts, corpus.language, [question.text for question in questions], stop_words=stop_words)
    labels, n_articles = corpus.label_rows(questions), len(corpus.articles)
    by_point = [question_metrics(list(counts.rankings(k1, b, DEPTH)), labels, n_articles) for k1 in k1s for b in bs]
    means = [aggregate(metrics) for metrics in by_point]
    result = GridResult(
        tuple(map(float, k1s)),
        tuple(map(float, bs)),
        {name: np.array([point[name] for point in means]).reshape(len(k1s), len(bs)) for name in means[0]},
        deciding_metric(select_by, n_articles),
        {name: [metrics[name].tolist() for metrics in by_point] for name in means[0]},
    )
    if out is not None:
        write_grid(result, corpus, Path(out))
    return result


def write_grid(result: GridResult, corpus: Corpus, folder: Path) -> None:
    """Write every value of a grid as JSON and, where matplotlib is installed, its metric as a heat map."""
    saved = {
        "corpus": {"name": corpus.name, "content_hash": corpus.content_hash},
        "split": SPLIT,
        "metric": result.metric,
        "best": asdict(result.best),
        "k1": list(result.k1s),
        "b": list(result.bs),
        "values": {name: table.tolist() for name, table in result.values.items()},  # (k1, b) each
    }
    artifacts.write_json(folder / GRID, saved)
    with suppress(DependencyError):
        draw_grid(result, corpus, folder / HEAT_MAP)


def draw_grid(result: GridResult, corpus: Corpus, path: Path) -> None:
    """Draw the metric that decides, in percent, as a heat map over k1 and b."""
    from statgraph.contrib.plots.figures import heat_map

    names = {"title": f"BM25 on {corpus.name}: dev {result.metric}, %", "xlabel": "b", "ylabel": "k1"}
    heat_map(100 * result.values[result.metric], result.bs, result.k1s, path, **names)


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


def _sparse(counted: Sequence[Counter[str]], vocabulary: Mapping[str, int]) -> csr_matrix:
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
