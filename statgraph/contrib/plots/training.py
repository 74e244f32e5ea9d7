"""Plots of a run's training: the loss, the metrics on dev by epoch, and the map of its article vectors."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from statgraph.config import LAST
from statgraph.contrib.plots.figures import COLOURS, GREY, key_below, new_figure
from statgraph.errors import RunError, option
from statgraph.evaluation.metrics import QUALITY
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.runs.article_store import ArticleStore
from statgraph.runs.run import RunFolder
from statgraph.training.checkpoints import MetricsLog
from statgraph.training.loop import chosen_epochs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_CURVES = (QUALITY, "mAP", "R@10", "R@100")  # beside the metric that chose the epoch
_MARKS = ("o", "^", "s", "D", "v")  # of curves, and of the largest codes
_LEAST_POINTS = 5  # of the map
MOST_POINTS = 2_000


def training_figures(run: Path, *, projection: str = "tsne", seed: int = 0) -> dict[str, Figure]:
    """Return by name the loss, the metrics on dev and the map of the article vectors of a run, as far as it has them.

    Raises:
        RunError: if it is not a finished run, or has neither a learning curve nor vectors.
    """
    opened = RunFolder.read(run)
    if opened.kind.has_members:
        members = ", ".join(map(str, opened.member_folders.values()))
        raise RunError(f"{run}: an ensemble; plot one of its members with {option('run')}: {members}")
    records = MetricsLog(opened.metrics).records()
    figures = {}
    if any(record["loss"] is not None for record in records):
        figures["losses"] = losses_figure(records)
    if any(record["epoch"] > 0 and QUALITY in record for record in records):
        figures["dev"] = dev_figure(records, opened.config.select_by)
    if opened.index.is_dir():
        vectors = ArticleIndex.load(opened.index, device="cpu").vectors
        if len(vectors) >= _LEAST_POINTS:
            codes = [article.path[0] for article in ArticleStore(run).read_all()]
            figures["article-map"] = article_map(vectors, codes, projection=projection, seed=seed)
    if not figures:
        system = opened.config.system
        raise RunError(
            f"{run}: nothing to plot, since system '{system}' has no training and no vectors; choose another run"
        )
    return figures


def losses_figure(records: Sequence[dict[str, Any]]) -> Figure:
    """Return the loss of each step and the mean of each epoch, by stage, from the records of `metrics.jsonl`."""
    trained = [record for record in records if record["loss"] is not None]
    figure, panels = _stage_panels(trained, title="Training loss by step", xlabel="step", ylabel="loss")
    for stage, axes in panels.items():
        epochs = [record for record in trained if record["stage"] == stage]
        losses = np.concatenate([record["step_losses"] for record in epochs])
        n_steps = np.array([len(record["step_losses"]) for record in epochs])
        middles = n_steps.cumsum() - (n_steps - 1) / 2  # (epochs,)
        axes.plot(range(1, len(losses) + 1), losses, color=GREY, linewidth=0.8, label="each step")
        axes.plot(
            middles, [record["loss"] for record in epochs], marker="o", color=COLOURS[0], label="mean of an epoch"
        )
        axes.set_ylim(bottom=0)
    key_below(figure, axes)
    return figure


def dev_figure(records: Sequence[dict[str, Any]], select_by: str = QUALITY) -> Figure:
    """Return metrics on dev by epoch, in percent, from the records of `metrics.jsonl` that have them; epoch 0 is before
    training, and `select_by` chose the epoch kept."""
    measured = [record for record in records if QUALITY in record]
    chosen_by = select_by if select_by in (LAST, *measured[0]) else QUALITY
    kept = chosen_epochs(measured, chosen_by)
    names = [name for name in dict.fromkeys((chosen_by, *_CURVES)) if all(name in record for record in measured)]
    figure, panels = _stage_panels(measured, title="Metrics on dev by epoch", xlabel="epoch", ylabel="dev, %")
    for stage, axes in panels.items():
        epochs = [record for record in measured if record["stage"] == stage]
        numbers = [record["epoch"] for record in epochs]
        for name, colour, mark in zip(names, COLOURS, _MARKS, strict=False):
            axes.plot(numbers, [100 * record[name] for record in epochs], color=colour, marker=mark, label=name)
        axes.axvline(kept[stage], color="black", linewidth=0.8, linestyle=":", label="epoch kept")
    key_below(figure, axes)
    return figure


def article_map(vectors: np.ndarray, codes: Sequence[str], *, projection: str = "tsne", seed: int = 0) -> Figure:
    """Return the articles of a run as points, close where their vectors are close, coloured by code.

    Of more than 2,000 articles a sample that size is drawn at random.

    Args:
        vectors: (articles, width) float32, at least 3 of them.
        codes: the code of each article.
        projection: `tsne` keeps neighbourhoods and bends distances between them; `pca` is a linear view.
        seed: fixes the sample and t-SNE's start.
    """
    rows = np.arange(len(vectors))
    if len(rows) > MOST_POINTS:
        rows = np.sort(np.random.default_rng(seed).choice(rows, MOST_POINTS, replace=False))
    plane, how = _projected(vectors[rows], projection, seed)  # (points, 2)
    shown = np.array(codes)[rows]
    largest = [code for code, _ in Counter(codes).most_common() if code in shown]
    figure, (axes,) = new_figure(7.2, 6.6)
    axes.set_axis_off()

    def draw(held: np.ndarray, name: str, colour: str, mark: str) -> None:
        x, y = plane[held].T
        label = textwrap.shorten(name, 60, placeholder="…")
        axes.scatter(x, y, s=12, marker=mark, color=colour, alpha=0.75, linewidths=0, label=label)

    for code, colour, mark in zip(largest, COLOURS, _MARKS, strict=False):
        draw(shown == code, code, colour, mark)
    if rest := largest[len(_MARKS) :]:
        draw(np.isin(shown, rest), f"{len(rest):,} other codes", GREY, ".")
    of_all = "" if len(rows) == len(vectors) else f" of {len(vectors):,}"
    axes.set_title(f"Vectors of {len(rows):,}{of_all} articles, by code: {how}")
    key_below(figure, axes)
    return figure


def _stage_panels(
    records: Sequence[dict[str, Any]], *, title: str, xlabel: str, ylabel: str
) -> tuple[Figure, dict[str, Axes]]:
    """Return (figure, stage -> axes); the stage is the title of its axes if there is more than one."""
    stages = list(dict.fromkeys(record["stage"] for record in records))
    figure, panels = new_figure(7.2, 4.0, len(stages), grid="y")
    for stage, axes in zip(stages, panels, strict=True):
        axes.locator_params(axis="x", integer=True)
        axes.set(xlabel=xlabel, title=stage if len(stages) > 1 else "")
    panels[0].set_ylabel(ylabel)
    figure.suptitle(title)
    return figure, dict(zip(stages, panels, strict=True))


def _projected(vectors: np.ndarray, projection: str, seed: int) -> tuple[np.ndarray, str]:
    """Return (places on a plane (vectors, 2), what they are)."""
    from sklearn.decomposition import PCA
    from sklearn.manifold import TSNE

    if projection == "pca":
        pca = PCA(2, svd_solver="full")
        plane = pca.fit_transform(vectors)
        return plane, f"PCA ({100 * pca.explained_variance_ratio_.sum():.0f} % of the variance)"
    perplexity = min(30, (len(vectors) - 1) / 3)
    return TSNE(2, perplexity=perplexity, init="pca", random_state=seed, n_jobs=1).fit_transform(vectors), "t-SNE"
