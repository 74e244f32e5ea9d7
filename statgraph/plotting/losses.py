"""How the loss fell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from statgraph.plotting.curves import curve_figure
from statgraph.plotting.drawing import HUES, INK, Drawing

_SMOOTHED_OVER = 25  # steps


def losses_drawing(records: Sequence[dict]) -> Drawing:
    """Return the loss by step of each stage, or by epoch where a run has kept no more than that.

    Args:
        records: the lines of `metrics.jsonl`.
    """
    figure, panels = curve_figure(_stages(records), y_name="loss")
    hovers, table = {}, []
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
            line.set_gid(f"loss-{number}")
            hovers[f"loss-{number}"] = (f"{stage}, mean of {_SMOOTHED_OVER} steps around each",)
        points = axes.scatter(middle, means, s=26, color=colour, edgecolors=INK, linewidths=0.6, zorder=3)
        points.set_label("mean of an epoch")
        points.set_gid(f"epochs-{number}")
        hovers[f"epochs-{number}"] = tuple(f"{stage}, epoch {row[1]}: {row[3]}" for row in table if row[0] == stage)
        if not by_step:
            axes.plot(middle, means, color=colour, linewidth=1.4)
        axes.set_xlabel("step" if by_step else "epoch")
        axes.set_ylim(bottom=0)
        axes.legend(frameon=False, labelcolor=INK, fontsize=9)
    return Drawing(
        name="losses",
        title="How the loss fell",
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


def _stages(records: Sequence[dict]) -> list[str]:
    """Return the stages that trained, in order."""
    return list(dict.fromkeys(record["stage"] for record in records if record["loss"] is not None))


def _running_mean(losses: Sequence[float]) -> np.ndarray:
    """Return for each step the mean of it and up to 12 on either side, as many after as before: a mean of those before
    alone would run behind a loss that falls."""
    sums = np.concatenate([[0.0], np.cumsum(losses)])
    steps = np.arange(len(losses))
    sides = np.minimum(_SMOOTHED_OVER // 2, np.minimum(steps, len(losses) - 1 - steps))
    return (sums[steps + sides + 1] - sums[steps - sides]) / (2 * sides + 1)
