"""The figures that need no training: how alike neighbouring articles are, and BM25 over its two parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from statgraph.corpus.records import Corpus
from statgraph.errors import CorpusError
from statgraph.lexical.analysis import analyser
from statgraph.systems.bm25_grid import SPLIT, tuned_bm25
from statgraph_plots.figures import HEAT, new_panels, save_png
from statgraph_plots.tuning import draw_grid
from statgraph_studies.spec import GRID, SIMILARITY

SHOWN_ARTICLES = 200
DISTANCES = (1, 2, 5, 10, 50, 100)
RANDOM_PAIRS = 10_000


@dataclass(frozen=True)
class Analysis:
    """The outcome of an analysis, as Markdown lines and as JSON values."""

    lines: Sequence[str]
    values: Mapping[str, object]


def article_similarity(corpus: Corpus, picture: Path) -> Analysis:
    """Return the mean TF-IDF cosine similarity of articles by how far apart they are in their code, against that of
    random pairs; draw the first articles of the first code against each other (G-DSR, figure 3).

    Raises:
        CorpusError: if no code has two articles.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [article.text for article in corpus.articles]
    vectors = TfidfVectorizer(analyzer=analyser(corpus.language)).fit_transform(texts)  # (articles, terms), unit rows
    by_code: dict[str, list[int]] = {}
    for row, article in enumerate(corpus.articles):
        by_code.setdefault(article.code, []).append(row)
    codes = [np.array(sorted(rows, key=lambda row: corpus.articles[row].order)) for rows in by_code.values()]
    similarities = {}
    for distance in DISTANCES:
        left = np.concatenate([rows[:-distance] for rows in codes])
        right = np.concatenate([rows[distance:] for rows in codes])
        if len(left):
            similarities[str(distance)] = _mean_cosine(vectors, left, right)
    if not similarities:
        raise CorpusError(f"{corpus.name}: no code has two articles to compare")
    rng = np.random.default_rng(0)
    sizes = np.array([len(rows) for rows in codes])
    drawn = rng.choice(len(codes), size=RANDOM_PAIRS, p=sizes / sizes.sum())
    pairs = np.array([rng.choice(codes[code], size=2) for code in drawn])  # (pairs, 2)
    similarities["random, same code"] = _mean_cosine(vectors, *_unequal(pairs))
    similarities["random, any code"] = _mean_cosine(
        vectors, *_unequal(rng.integers(len(texts), size=(RANDOM_PAIRS, 2)))
    )

    shown = codes[0][:SHOWN_ARTICLES]
    title = f"{len(shown)} consecutive articles, {next(iter(by_code))}"
    _draw_similarity((vectors[shown] @ vectors[shown].T).toarray(), title, picture)
    lines = [
        "Mean cosine similarity of the TF-IDF vectors of the articles' own text (headings left out). Distance: places "
        "apart in the same code, over all codes.",
        "",
        "| distance | mean similarity | pairs |",
        "| --- | --- | --- |",
        *(f"| {name} | {mean:.3f} | {count:,} |" for name, (mean, count) in similarities.items()),
    ]
    values = {name: {"mean": mean, "pairs": count} for name, (mean, count) in similarities.items()}
    return Analysis(lines, {"similarity": values, "shown_code": next(iter(by_code)), "shown_articles": len(shown)})


def bm25_over_grid(corpus: Corpus, picture: Path) -> Analysis:
    """Return BM25's dev recall for each k1 and b, and draw it (G-DSR, figure 4)."""
    grid = tuned_bm25(corpus, select_by="R@200")
    values = 100 * grid.values[grid.metric]  # (k1s, bs)
    draw_grid(grid, corpus, picture)
    lines = [
        f"{grid.metric} on {SPLIT}, %. Best: k1 = {grid.best.k1:g}, b = {grid.best.b:g}.",
        "",
        f"| k1 \\ b | {' | '.join(f'{b:g}' for b in grid.bs)} |",
        f"| --- {'| --- ' * len(grid.bs)}|",
        *(
            f"| {k1:g} | {' | '.join(f'{value:.1f}' for value in line)} |"
            for k1, line in zip(grid.k1s, values.tolist(), strict=True)
        ),
    ]
    values_by_name = {
        "k1s": grid.k1s,
        "bs": grid.bs,
        "best": asdict(grid.best),
        "values": {metric: table.tolist() for metric, table in grid.values.items()},
    }
    return Analysis(lines, values_by_name)


ANALYSES: Mapping[str, Callable[[Corpus, Path], Analysis]] = {SIMILARITY: article_similarity, GRID: bm25_over_grid}


def _draw_similarity(matrix: np.ndarray, title: str, path: Path) -> None:
    """Write a matrix of similarities (articles, articles) as a PNG file, row 0 at the top."""
    figure, (axes,) = new_panels(5.6, 4.8)
    axes.set_title(title, fontsize=11)
    image = axes.imshow(matrix, cmap=HEAT, interpolation="nearest")
    figure.colorbar(image, ax=axes, label="similarity")
    save_png(figure, path)


def _unequal(pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two sides of the pairs (pairs, 2) of two different articles."""
    left, right = pairs[pairs[:, 0] != pairs[:, 1]].T
    return left, right


def _mean_cosine(vectors, left: np.ndarray, right: np.ndarray) -> tuple[float, int]:
    """Return (the mean cosine of the pairs, how many there are)."""
    if not len(left):
        return float("nan"), 0
    return float(vectors[left].multiply(vectors[right]).sum() / len(left)), len(left)
