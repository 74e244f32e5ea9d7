"""The map of the article vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from statgraph.evaluation.plots import INK, new_figure
from statgraph.plotting.drawing import HUES, REST, Drawing, Hovers, shortened
from statgraph.runs.article_store import StoredArticle

_NAMES = {"tsne": "t-SNE", "pca": "PCA"}
PROJECTIONS = tuple(_NAMES)
MOST_POINTS = 2_000
_MOST_CODES = 5  # in colours and marks of their own
_MARKS = ("o", "^", "s", "D", "v")
_PERPLEXITY = 30
_PCA_FIRST = 50  # components that t-SNE gets: van der Maaten and Hinton, 2008, section 4.2, use 30


def article_map_drawing(
    vectors: np.ndarray, articles: Sequence[StoredArticle], *, projection: str = "tsne", seed: int = 0
) -> Drawing:
    """Return the articles of a run as points, close where their vectors are close, coloured by code.

    Of more than 2,000 articles a sample that size is drawn at random.

    Args:
        vectors: (articles, width) float32, at least 3 of them.
        articles: as many.
        projection: `tsne` keeps neighbourhoods and bends distances between them; `pca` is a linear view.
        seed: fixes the sample and t-SNE's start.
    """
    rng = np.random.default_rng(seed)
    rows = np.arange(len(vectors))
    if len(rows) > MOST_POINTS:
        rows = np.sort(rng.choice(rows, MOST_POINTS, replace=False))
    places, how = _projected(np.asarray(vectors[rows], dtype=np.float64), projection, seed)  # (points, 2)
    codes = np.array([articles[row].path[0] for row in rows])
    all_codes = Counter(article.path[0] for article in articles)
    named = [code for code, _ in all_codes.most_common() if code in set(codes)]
    own, rest = named[:_MOST_CODES], named[_MOST_CODES:]

    figure, axes = new_figure(7.2, 6.6)
    hovers, table = Hovers(), []
    groups = [(code, [code], HUES[number], _MARKS[number]) for number, code in enumerate(own)]
    if rest:
        groups.append((f"{len(rest):,} other codes", rest, REST, "."))
    for number, (name, members, colour, mark) in enumerate(groups):
        chosen = np.isin(codes, members)
        points = axes.scatter(
            *places[chosen].T, s=12, marker=mark, color=colour, alpha=0.75, linewidths=0, label=shortened(name, 60)
        )
        shown = (articles[row] for row in rows[chosen])
        hovers.put(f"code-{number}", points, *(article.title or article.article_id for article in shown))
        table.append((name, sum(all_codes[member] for member in members), int(chosen.sum())))
    axes.set_axis_off()
    figure.legend(loc="outside lower center", ncols=2, frameon=False, labelcolor=INK, fontsize=8.5, markerscale=1.8)
    sampled = len(rows) < len(vectors)
    sample = (
        f"A random sample of {len(rows):,} of {len(vectors):,} articles" if sampled else f"All {len(rows):,} articles"
    )
    return Drawing(
        name="article-map",
        title=f"Map of the article vectors ({_NAMES[projection]}), by code",
        description=(
            f"{sample}, by the vectors that the run searches, {how}; seed {seed}. Colours and marks show the codes."
        ),
        figure=figure,
        columns=("code", "articles", "drawn"),
        rows=tuple(table),
        hovers=hovers,
    )


def _projected(vectors: np.ndarray, projection: str, seed: int) -> tuple[np.ndarray, str]:
    """Return (places on a plane (vectors, 2), how they came about)."""
    centred = vectors - vectors.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    components = left * sizes  # (vectors, components), the largest first
    if projection == "pca":
        kept = 100 * (sizes[:2] ** 2).sum() / max((sizes**2).sum(), np.finfo(float).tiny)
        plane = np.zeros((len(vectors), 2))
        plane[:, : min(2, components.shape[1])] = components[:, :2]
        return plane, f"projected on their first two principal components ({kept:.0f} % of the variance)"
    from sklearn.manifold import TSNE

    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    plane = TSNE(2, perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(
        components[:, :_PCA_FIRST].astype(np.float32)
    )
    return plane, (
        f"laid out by t-SNE (perplexity {perplexity:.0f}): near points are near vectors, "
        "distances between clusters say little"
    )
