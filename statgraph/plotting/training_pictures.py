"""Pictures of a run's training: the loss, the metrics on dev by epoch, and the map of its article vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from statgraph import artifacts
from statgraph.errors import RunError
from statgraph.evaluation.metrics import QUALITY
from statgraph.evaluation.plots import INK
from statgraph.plotting.article_map import article_map_drawing
from statgraph.plotting.drawing import HUES, Drawing, Hovers, curve_figure

_LEAST_POINTS = 5  # of the map
_SMOOTHED_OVER = 25  # steps
_CURVES = ("mAP", "R@10", "R@100")  # beside the metric that the epoch kept is highest in
_FORMER_METRIC = "R@200"  # by which statgraph 0.1 chose
_MARKS = ("o", "s", "^", "D")


def training_drawings(run: Path, *, projection: str = "tsne", seed: int = 0) -> list[Drawing]:
    """Return the loss, the metrics on dev and the map of the article vectors of a run, as far as it has the numbers.

    Raises:
        RunError: if it is not a finished run, or has neither a learning curve nor vectors.
    """
    from statgraph.index.article_index import ArticleIndex
    from statgraph.runs.article_store import ArticleStore
    from statgraph.runs.run import Run
    from statgraph.training.checkpoints import MetricsLog

    run = Path(run)
    opened = Run.read(run)
    if opened.config.is_ensemble:
        raise RunError(f"{run}: an ensemble; plot the training of a member with --run {opened.members}/NAME")
    records = MetricsLog(run / artifacts.RUN_METRICS).records()
    drawings = []
    if any(record["loss"] is not None for record in records):
        drawings.append(losses_drawing(records))
    chosen_by = (opened.config.select_by, QUALITY, _FORMER_METRIC)
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


def losses_drawing(records: Sequence[dict]) -> Drawing:
    """Return the loss by step of each stage, or by epoch where a run has kept no more than that.

    Args:
        records: the lines of `metrics.jsonl`.
    """
    figure, panels = curve_figure(_stages(record for record in records if record["loss"] is not None), y_name="loss")
    hovers, table = Hovers(), []
    by_step = any("step_losses" in record for record in records)
    for number, (stage, axes) in enumerate(panels.items()):
        colour, end = HUES[number % len(HUES)], 0
        middle, means, steps = [], [], []
        for record in records:
            if record["stage"] != stage or record["loss"] is None:
                continue
            losses = record.get("step_losses") or [record["loss"]]
            start, end = end, end + len(losses)
            steps += losses
            middle.append((start + 1 + end) / 2)
            means.append(record["loss"])
            table.append((stage, record["epoch"], end if by_step else "", f"{record['loss']:.4f}"))
        if by_step:
            axes.plot(range(1, end + 1), steps, color=colour, alpha=0.3, linewidth=0.8, label="each step")
            smooth = _running_mean(steps)
            (line,) = axes.plot(range(1, end + 1), smooth, color=colour, linewidth=1.8, label="running mean")
            hovers.put(f"loss-{number}", line, f"{stage}, mean of {_SMOOTHED_OVER} steps around each")
        points = axes.scatter(middle, means, s=26, color=colour, edgecolors=INK, linewidths=0.6, zorder=3)
        points.set_label("mean of an epoch")
        of_epochs = (f"{stage}, epoch {row[1]}: {row[3]}" for row in table if row[0] == stage)
        hovers.put(f"epochs-{number}", points, *of_epochs)
        if not by_step:
            axes.plot(middle, means, color=colour, linewidth=1.4)
        axes.set_xlabel("step" if by_step else "epoch")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, labelcolor=INK, fontsize=9)
    return Drawing(
        name="losses",
        title=f"Training loss by {'step' if by_step else 'epoch'}",
        description=(
            f"Training loss of each stage: every step, the mean of {_SMOOTHED_OVER} around it, and the mean of each "
            "epoch at its middle."
            if by_step
            else "Mean training loss of each epoch of each stage; this run kept no loss of single steps."
        ),
        figure=figure,
        columns=("stage", "epoch", "last step", "mean loss"),
        rows=tuple(table),
        hovers=hovers,
    )


def _stages(records: Iterable[dict]) -> list[str]:
    """Return the stages of the records, in order."""
    return list(dict.fromkeys(record["stage"] for record in records))


def _running_mean(losses: Sequence[float]) -> np.ndarray:
    """Return for each step the mean of it and up to 12 on either side, as many after as before: a mean of those before
    alone would run behind a loss that falls."""
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    steps = np.arange(len(losses))
    sides = np.minimum(_SMOOTHED_OVER // 2, np.minimum(steps, len(losses) - 1 - steps))
    return (sums[steps + sides + 1] - sums[steps - sides]) / (2 * sides + 1)


def dev_drawing(records: Sequence[dict], metric: str) -> Drawing:
    """Return metrics on dev by epoch, in percent; epoch 0 is before training.

    Args:
        records: the lines of `metrics.jsonl`; those without dev metrics are left out.
        metric: the one that the epoch kept is highest in.
    """
    measured = [record for record in records if metric in record]
    names = [metric, *(name for name in _CURVES if name != metric and all(name in record for record in measured))]
    figure, panels = curve_figure(_stages(measured), y_name="dev, %")
    hovers, table, kept = Hovers(), [], []
    for panel, (stage, axes) in enumerate(panels.items()):
        epochs = [record for record in measured if record["stage"] == stage]
        best = max(epochs, key=lambda record: record[metric])
        kept.append(f"epoch {best['epoch']} of {stage}")
        for number, name in enumerate(names):
            xs, ys = [record["epoch"] for record in epochs], [100 * record[name] for record in epochs]
            axes.plot(xs, ys, color=HUES[number], linewidth=1.6)
            points = axes.scatter(xs, ys, s=28, marker=_MARKS[number], color=HUES[number], label=name, zorder=3)
            of_epochs = (f"{stage}, epoch {x}: {name} {y:.1f}" for x, y in zip(xs, ys, strict=True))
            hovers.put(f"dev-{panel}-{number}", points, *of_epochs)
        axes.axvline(best["epoch"], color=INK, linewidth=0.8, linestyle=":", label="kept")
        axes.set_xlabel("epoch")
        for record in epochs:
            values = (f"{100 * record[name]:.1f}" for name in names)
            table.append((stage, record["epoch"], *values, "kept" if record is best else ""))
    lowest = min((axes.get_ylim()[0] for axes in panels.values()), default=0)
    for axes in panels.values():
        axes.set_ylim(max(0, lowest), min(101, max(other.get_ylim()[1] for other in panels.values())))
    key = next(iter(panels.values())).get_legend_handles_labels()
    figure.legend(*key, loc="outside lower center", ncols=len(key[0]), frameon=False, labelcolor=INK, fontsize=9)
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
        hovers=hovers,
    )
