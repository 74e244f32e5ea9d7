"""Plots of a run's training: the loss, the metrics on dev by epoch, and the map of its article vectors."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.contrib.plots.drawing import HUES, REST, Drawing, key_below
from statgraph.contrib.plots.figures import FAINT_INK, INK, new_panels
from statgraph.errors import RunError, option
from statgraph.evaluation.metrics import QUALITY
from statgraph.runs.article_store import StoredArticle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

_LEAST_POINTS = 5  # of the map
_CURVES = ("mAP", "R@10", "R@100")  # beside the metric that chose the epoch
_MARKS = ("o", "^", "s", "D", "v")
PROJECTIONS = {"tsne": "t-SNE", "pca": "PCA"}
MOST_POINTS = 2_000
_MOST_CODES = 5  # in colours and marks of their own
_PERPLEXITY = 30
_PCA_FIRST = 50  # components that t-SNE gets: van der Maaten and Hinton, 2008, section 4.2, use 30


def training_drawings(run: Path, *, projection: str = "tsne", seed: int = 0) -> list[Drawing]:
    """Return the loss, the metrics on dev and the map of the article vectors of a run, as far as it has the numbers.

    Raises:
        RunError: if it is not a finished run, or has neither a learning curve nor vectors.
    """
    from statgraph.retrieval.index.article_index import ArticleIndex
    from statgraph.runs.article_store import ArticleStore
    from statgraph.runs.run import RunFolder
    from statgraph.training.checkpoints import MetricsLog

    run = Path(run)
    opened = RunFolder.read(run)
    if opened.kind.has_members:
        raise RunError(f"{run}: an ensemble; plot the training of a member with {option('run')} {opened.members}/NAME")
    records = MetricsLog(opened.metrics).records()
    drawings = []
    if any(record["loss"] is not None for record in records):
        drawings.append(losses_drawing(records))
    chosen_by = (opened.config.select_by, QUALITY)
    metric = next((name for name in chosen_by if any(name in record for record in records)), None)
    if metric and any(record["epoch"] > 0 for record in records):
        drawings.append(dev_drawing(records, metric))
    if opened.index.is_dir():
        vectors = ArticleIndex.load(opened.index, device="cpu").vectors
        if len(vectors) >= _LEAST_POINTS:
            articles = ArticleStore(run).read_all()
            drawings.append(article_map_drawing(vectors, articles, projection=projection, seed=seed))
    if not drawings:
        system = opened.config.system
        raise RunError(
            f"{run}: nothing to plot, since system '{system}' has no training and no vectors; choose another run"
        )
    return drawings


def losses_drawing(records: Sequence[dict[str, Any]]) -> Drawing:
    """Return the loss of each step and the mean of each epoch, by stage, from the records of `metrics.jsonl`."""
    trained = [record for record in records if record["loss"] is not None]
    figure, panels = _stage_panels(trained, "loss", "step")
    table = []
    for number, (stage, axes) in enumerate(panels.items()):
        epochs = [record for record in trained if record["stage"] == stage]
        losses = np.concatenate([record["step_losses"] for record in epochs])
        n_steps = np.array([len(record["step_losses"]) for record in epochs])
        ends = n_steps.cumsum()  # (epochs,)
        axes.plot(range(1, len(losses) + 1), losses, color=HUES[number], alpha=0.3, linewidth=0.8, label="each step")
        points = _line(
            axes, ends - (n_steps - 1) / 2, [record["loss"] for record in epochs], number, "mean of an epoch"
        )
        points.set_urls([f"{stage}, epoch {record['epoch']}: {record['loss']:.4f}" for record in epochs])
        axes.set_ylim(bottom=0)
        for record, end in zip(epochs, ends.tolist(), strict=True):
            table.append((stage, record["epoch"], end, f"{record['loss']:.4f}"))
    key_below(figure, next(iter(panels.values())))
    return Drawing(
        name="losses",
        title="Training loss by step",
        description="Training loss of each stage: every step, and the mean of each epoch at its middle.",
        figure=figure,
        columns=("stage", "epoch", "last step", "mean loss"),
        rows=tuple(table),
    )


def dev_drawing(records: Sequence[dict[str, Any]], metric: str) -> Drawing:
    """Return metrics on dev by epoch, in percent, from the records of `metrics.jsonl` that have them; epoch 0 is before
    training, and `metric` chose the epoch."""
    measured = [record for record in records if metric in record]
    names = [metric, *(name for name in _CURVES if name != metric and all(name in record for record in measured))]
    figure, panels = _stage_panels(measured, "dev, %", "epoch")
    table, kept = [], []
    for stage, axes in panels.items():
        epochs = [record for record in measured if record["stage"] == stage]
        best = max(epochs, key=lambda record: record[metric])
        kept.append(f"epoch {best['epoch']} of {stage}")
        for number, name in enumerate(names):
            xs, ys = [record["epoch"] for record in epochs], [100 * record[name] for record in epochs]
            points = _line(axes, xs, ys, number, name)
            points.set_urls([f"{stage}, epoch {x}: {name} {y:.1f}" for x, y in zip(xs, ys, strict=True)])
        axes.axvline(best["epoch"], color=INK, linewidth=0.8, linestyle=":", label="kept")
        for record in epochs:
            values = (f"{100 * record[name]:.1f}" for name in names)
            table.append((stage, record["epoch"], *values, "kept" if record is best else ""))
    key_below(figure, next(iter(panels.values())))
    return Drawing(
        name="dev",
        title="Metrics on dev by epoch",
        description=(
            "Means over the dev questions by epoch; epoch 0 is the stage before training. Dotted: the epoch kept, that "
            f"of the highest {metric} ({', '.join(kept)})."
        ),
        figure=figure,
        columns=("stage", "epoch", *names, ""),
        rows=tuple(table),
    )


def _line(axes: Axes, xs: Sequence[float] | np.ndarray, ys: Sequence[float], number: int, label: str) -> PathCollection:
    """Draw a line, and return its points, which have their own mark."""
    axes.plot(xs, ys, color=HUES[number], linewidth=1.6)
    return axes.scatter(xs, ys, s=28, marker=_MARKS[number], color=HUES[number], label=label, zorder=3)


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
    rows = np.arange(len(vectors))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_POINTS, replace=False))
    plane, how = _projected(np.asarray(vectors[rows], dtype=np.float64), projection, seed)  # (points, 2)
    codes = np.array([articles[row].path[0] for row in rows.tolist()])
    sizes = Counter(article.path[0] for article in articles)
    named = [code for code, _ in sizes.most_common() if code in set(codes)]
    groups = [(code, [code], HUES[number], _MARKS[number]) for number, code in enumerate(named[:_MOST_CODES])]
    if rest := named[_MOST_CODES:]:
        groups.append((f"{len(rest):,} other codes", rest, REST, "."))

    figure, (axes,) = new_panels(7.2, 6.6)
    axes.set_axis_off()
    table = []
    for name, members, colour, mark in groups:
        held = np.isin(codes, members)
        style: dict[str, Any] = {"s": 12, "marker": mark, "color": colour, "alpha": 0.75, "linewidths": 0}
        label = textwrap.shorten(name, 60, placeholder="…")
        points = axes.scatter(*plane[held].T, label=label, **style)
        shown = (articles[row] for row in rows[held].tolist())
        points.set_urls([article.title or article.article_id for article in shown])
        table.append((name, sum(sizes[member] for member in members), int(held.sum())))
    key_below(figure, axes)
    all_of_them = len(rows) == len(vectors)
    sample = f"All {len(rows):,}" if all_of_them else f"A random sample of {len(rows):,} of {len(vectors):,}"
    return Drawing(
        name="article-map",
        title=f"Map of the article vectors ({PROJECTIONS[projection]}), by code",
        description=(
            f"{sample} articles, by the vectors that the run searches, {how}; seed {seed}. Colours and marks show the "
            "codes."
        ),
        figure=figure,
        columns=("code", "articles", "drawn"),
        rows=tuple(table),
    )


def _stage_panels(records: Sequence[dict[str, Any]], y_name: str, x_name: str) -> tuple[Figure, dict[str, Axes]]:
    """Return (figure, stage -> axes); the stage is the title of its axes if there is more than one."""
    stages = list(dict.fromkeys(record["stage"] for record in records))
    figure, panels = new_panels(7.2, 4.0, len(stages))
    for stage, axes in zip(stages, panels, strict=True):
        axes.grid(axis="y", color=FAINT_INK, alpha=0.3, linewidth=0.7)
        axes.locator_params(axis="x", integer=True)
        axes.set_xlabel(x_name)
        if len(stages) > 1:
            axes.set_title(stage, fontsize=10, color=INK)
            axes.sharey(panels[0])
    panels[0].set_ylabel(y_name)
    return figure, dict(zip(stages, panels, strict=True))


def _projected(vectors: np.ndarray, projection: str, seed: int) -> tuple[np.ndarray, str]:
    """Return (places on a plane (vectors, 2), how they came about)."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    pca = PCA(min(_PCA_FIRST, *vectors.shape), svd_solver="full")
    components = pca.fit_transform(vectors)  # (vectors, components), the largest first
    if projection == "pca":
        kept = 100 * pca.explained_variance_ratio_[:2].sum()
        plane = np.pad(components[:, :2], ((0, 0), (0, max(0, 2 - components.shape[1]))))
        return plane, f"projected on their first two principal components ({kept:.0f} % of the variance)"
    perplexity = min(_PERPLEXITY, (len(vectors) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", random_state=seed, n_jobs=1)
    return tsne.fit_transform(components.astype(np.float32)), (
        f"laid out by t-SNE (perplexity {perplexity:.0f}): near points are near vectors, "
        "distances between clusters say little"
    )
