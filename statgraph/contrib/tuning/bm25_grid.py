"""BM25's two parameters over a grid, on a corpus's dev questions (G-DSR, appendix C): the texts are counted once and
only weighed again."""

from __future__ import annotations

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
    from matplotlib.figure import Figure
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
    counts = TermCounts(texts, corpus.language, stop_words=stop_words)
    asked = counts.asked([question.text for question in questions])
    labels, n_articles = corpus.label_rows(questions), len(corpus.articles)
    by_point = [
        question_metrics(list(counts.rankings(asked, DEPTH, k1=k1, b=b)), labels, n_articles) for k1 in k1s for b in bs
    ]
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
        from statgraph.contrib.plots.figures import save_png

        save_png(grid_figure(result, corpus), folder / HEAT_MAP)


def grid_figure(result: GridResult, corpus: Corpus) -> Figure:
    """Return the metric that decides, in percent, as a heat map over k1 and b."""
    from statgraph.contrib.plots.figures import heat_map

    names = {"title": f"BM25 on {corpus.name}: dev {result.metric}, %", "xlabel": "b", "ylabel": "k1"}
    b_labels, k1_labels = ([f"{value:g}" for value in axis] for axis in (result.bs, result.k1s))
    return heat_map(100 * result.values[result.metric], b_labels, k1_labels, **names)


class TermCounts:
    """How often each term occurs in each text, whole and by field, and BM25 over these counts.

    Attributes:
        whole: (texts, terms) sparse.
        fields: the same of each field that has words.
        holding: (terms,) texts that hold the term.
    """

    def __init__(self, texts: Sequence[str], language: str, *, stop_words: bool = True, **fields: Sequence[str]):
        from sklearn.feature_extraction.text import CountVectorizer

        by_term = CountVectorizer(analyzer=analyser(language), dtype=np.float32)
        self.whole = by_term.fit_transform(texts)
        self.fields = {name: by_term.transform(field) for name, field in fields.items() if any(field)}
        asked = question_analyser(language, stop_words=stop_words)
        self._asked = CountVectorizer(analyzer=asked, vocabulary=by_term.vocabulary_, dtype=np.float32)
        self.holding = np.diff(self.whole.tocsc().indptr)
        self._idf = idf(len(texts), self.holding)

    def asked(self, questions: Sequence[str]) -> csr_matrix:
        """Return how often each question has each term, (questions, terms) sparse."""
        return self._asked.transform(questions)

    def weights(self, *, k1: float, b: float, **of_fields: float) -> csr_matrix:
        """Return BM25's weight of each term in each text, (terms, texts) sparse float32. With weights `of_fields` a
        term occurs as often as the weighted sum over the fields says, each for its own length (BM25F: Robertson and
        Zaragoza 2009, section 3.6)."""
        fields = {name: self.fields[name] for name in of_fields} if of_fields else {"": self.whole}
        total = sum(of_fields.get(name, 1.0) * _shortened(counts, b) for name, counts in fields.items()).tocsr()
        total.data = (total.data / (k1 + total.data) * self._idf[total.indices]).astype(np.float32)
        return total.T.tocsr()

    def rankings(self, asked: csr_matrix, depth: int, *, k1: float, b: float) -> Iterator[np.ndarray]:
        """Yield for each question, (questions, terms), the rows (int64) of its best `depth` texts, best first, ties by
        row."""
        weights = self.weights(k1=k1, b=b)
        for start in range(0, asked.shape[0], _QUESTIONS_AT_ONCE):
            scores = (asked[start : start + _QUESTIONS_AT_ONCE] @ weights).toarray()  # (questions, texts)
            yield from (best_rows(question_scores, depth) for question_scores in scores)


def _shortened(counts: csr_matrix, b: float) -> csr_matrix:
    """Return the counts (texts, terms) divided by 1 - b + b times the text's length in mean lengths."""
    from scipy.sparse import diags

    lengths = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    damping = 1 - b + b * lengths / max(float(lengths.mean()), 1e-12)
    return (diags(1 / np.maximum(damping, 1e-12)) @ counts).tocsr()


def _check_axis(name: str, values: Sequence[float]) -> None:
    if not len(values):
        raise UsageError(f"{name}: no values; give at least one")
    for value in values:
        check_setting(Bm25Config, name, value, place=name)
    if len(set(values)) < len(values):
        raise UsageError(f"{name}: a value occurs twice; give each once")
