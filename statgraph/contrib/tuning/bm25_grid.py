"""BM25's two parameters, measured over a grid on a corpus's dev questions (G-DSR, appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.contrib.tuning.grid import Grid, GridResult, TermCounts, bm25_grid
from statgraph.encoders.article_text import article_texts
from statgraph.errors import DependencyError
from statgraph.evaluation.metrics import DEPTH, QUALITY, aggregate, deciding_metric, question_metrics
from statgraph.law.records import Corpus, checked_corpus
from statgraph.retrieval.search.evaluating import split_questions

SPLIT = "dev"
GRID = "grid.json"
HEAT_MAP = "grid.png"

# The grid of G-DSR's figure: k1 from 0 to 8, b from 0 to 1.
DEFAULT_K1S = tuple(step / 2 for step in range(17))
DEFAULT_BS = tuple(step / 10 for step in range(11))


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
    grid, questions = Grid(k1s, bs), split_questions(checked_corpus(corpus), SPLIT)
    n_articles = len(corpus.articles)
    labels = corpus.label_rows(questions)
    metric = deciding_metric(select_by, n_articles)

    by_question: dict[str, list[list[float]]] = {}

    def evaluate(rankings: list[np.ndarray]) -> dict[str, float]:
        metrics = question_metrics(rankings, labels, n_articles)
        means = aggregate(metrics)
        for name in means:
            by_question.setdefault(name, []).append(metrics[name].tolist())
        return means

    texts = article_texts(corpus.articles, heading_path=heading_path)
    counts = TermCounts(texts, corpus.language, [question.text for question in questions], stop_words=stop_words)
    result = bm25_grid(counts, grid, evaluate, metric=metric, tie_breaker=QUALITY, depth=DEPTH)
    result = replace(result, by_question=by_question)
    if out is not None:
        write_grid(result, corpus, Path(out))
    return result


def write_grid(result: GridResult, corpus: Corpus, folder: Path) -> None:
    """Write every value of a grid as JSON and, with statgraph-plots, its metric as a heat map into a folder."""
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
    with suppress(DependencyError):  # a picture beside the figures, where matplotlib is installed
        from statgraph.contrib.plots.tuning import draw_grid

        draw_grid(result, corpus, folder / HEAT_MAP)
