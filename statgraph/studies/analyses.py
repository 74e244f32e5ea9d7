"""The figures that need no training: how alike neighbouring articles are, and BM25 over its two parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.contrib.plots.figures import heat_map, save_png
from statgraph.contrib.tuning.bm25_grid import SPLIT, GridResult, grid_figure, tuned_bm25
from statgraph.errors import CorpusError
from statgraph.evaluation.metrics import QUALITY
from statgraph.law.records import Corpus
from statgraph.retrieval.lexical.analysis import analyser
from statgraph.studies.spec import GRID, SIMILARITY

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

SHOWN_ARTICLES = 200
DISTANCES = (1, 2, 5, 10, 50, 100)
RANDOM_PAIRS = 10_000


def article_similarity(corpus: Corpus, picture: Path) -> dict[str, object]:
    """Return the mean TF-IDF cosine similarity of articles by how far apart they are in their code, against that of
    random pairs, as JSON values; draw the first articles of the first code against each other (G-DSR, figure 3).

    Raises:
        CorpusError: if no code has two articles.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [article.text for article in corpus.articles]
    vectors = TfidfVectorizer(analyzer=analyser(corpus.language)).fit_transform(texts)  # (articles, terms), unit rows
    rows_of: dict[str, list[int]] = {}
    for row, article in enumerate(corpus.articles):
        rows_of.setdefault(article.code, []).append(row)
    codes = [np.array(sorted(rows, key=lambda row: corpus.articles[row].order)) for rows in rows_of.values()]
    pairs = {}
    for distance in DISTANCES:
        left = np.concatenate([rows[:-distance] for rows in codes])
        right = np.concatenate([rows[distance:] for rows in codes])
        if len(left):
            pairs[str(distance)] = left, right
    if not pairs:
        raise CorpusError(f"{corpus.name}: no code has two articles to compare")
    rng = np.random.default_rng(0)
    sizes = np.array([len(rows) for rows in codes])
    drawn = rng.choice(len(codes), size=RANDOM_PAIRS, p=sizes / sizes.sum())
    pairs["random, same code"] = _unequal(np.array([rng.choice(codes[code], size=2) for code in drawn]))
    pairs["random, any code"] = _unequal(rng.integers(len(texts), size=(RANDOM_PAIRS, 2)))
    code_of = np.array([article.code for article in corpus.articles])
    by_code = {name: _by_code(vectors, code_of, *ends) for name, ends in pairs.items()}

    shown, code = codes[0][:SHOWN_ARTICLES], corpus.articles[codes[0][0]].code
    title = f"Similarity of {len(shown)} consecutive articles, {code}"
    save_png(heat_map((vectors[shown] @ vectors[shown].T).toarray(), title=title), picture)
    return {"analysis": SIMILARITY, "by_code": by_code}


def _similarity_lines(values: Mapping[str, Any]) -> list[str]:
    """Return the means over all pairs, from how many each code has and their mean."""
    lines = [
        "Mean cosine similarity of the TF-IDF vectors of the articles' own text (headings left out). Distance: places "
        "apart in the same code, over all codes.",
        "",
        "| distance | mean similarity | pairs |",
        "| --- | --- | --- |",
    ]
    for name, by_code in values["by_code"].items():
        means, counts = np.array(list(by_code.values())).reshape(-1, 2).T
        mean = float(means @ counts / counts.sum()) if len(counts) else float("nan")
        lines.append(f"| {name} | {mean:.3f} | {int(counts.sum()):,} |")
    return lines


def bm25_over_grid(corpus: Corpus, picture: Path) -> dict[str, object]:
    """Return BM25's dev recall for each k1 and b as JSON values, and draw it (G-DSR, figure 4)."""
    grid = tuned_bm25(corpus, select_by="R@200")
    save_png(grid_figure(grid, corpus), picture)
    kept = {name: grid.by_question[name] for name in dict.fromkeys((grid.metric, QUALITY))}
    about = {"analysis": GRID, "metric": grid.metric, "tie_breaker": QUALITY, "k1s": grid.k1s, "bs": grid.bs}
    return {**about, "by_question": kept}


def _grid_lines(values: Mapping[str, Any]) -> list[str]:
    """Return the means over the questions at each point of a grid, and the best point."""
    k1s, bs = tuple(values["k1s"]), tuple(values["bs"])
    means = {
        name: np.array(points).mean(axis=1).reshape(len(k1s), len(bs)) for name, points in values["by_question"].items()
    }
    grid = GridResult(k1s, bs, means, values["metric"])
    return [
        f"{grid.metric} on {SPLIT}, %. Best: k1 = {grid.best.k1:g}, b = {grid.best.b:g}.",
        "",
        f"| k1 \\ b | {' | '.join(f'{b:g}' for b in bs)} |",
        f"| --- {'| --- ' * len(bs)}|",
        *(
            f"| {k1:g} | {' | '.join(f'{100 * value:.1f}' for value in line)} |"
            for k1, line in zip(k1s, means[grid.metric].tolist(), strict=True)
        ),
    ]


# From a corpus, and the file of a picture, to JSON values.
ANALYSES = {SIMILARITY: article_similarity, GRID: bm25_over_grid}
# From the values of each code or question to the lines that follow from them.
LINES: Mapping[str, Callable[[Mapping[str, Any]], list[str]]] = {SIMILARITY: _similarity_lines, GRID: _grid_lines}


def _unequal(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two sides of the pairs (pairs, 2) of two different articles."""
    left, right = pairs[pairs[:, 0] != pairs[:, 1]].T
    return left, right


def _by_code(
    vectors: csr_matrix, code_of: np.ndarray, left: np.ndarray, right: np.ndarray
) -> dict[str, tuple[float, int]]:
    """Return for each code of a pair's first article (the mean cosine of these pairs, how many there are)."""
    cosines = np.asarray(vectors[left].multiply(vectors[right]).sum(axis=1)).ravel()
    return {
        str(code): (float(cosines[code_of[left] == code].mean()), int((code_of[left] == code).sum()))
        for code in np.unique(code_of[left])
    }
