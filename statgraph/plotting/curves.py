"""Axes side by side, one a stage of the training."""

from __future__ import annotations

from collections.abc import Sequence

from statgraph.plotting.drawing import FAINT_INK, INK, PAPER, dress


def curve_figure(stages: Sequence[str], *, y_name: str) -> tuple[object, dict[str, object]]:
    """Return (figure, stage -> axes); the stage stands above its axes where there is more than one."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.0), layout="constrained", facecolor=PAPER)
    panels = {}
    for number, stage in enumerate(stages):
        axes = figure.add_subplot(1, len(stages), number + 1, facecolor="none")
        dress(axes)
        axes.grid(axis="y", color=FAINT_INK, alpha=0.3, linewidth=0.7)
        axes.set_axisbelow(True)
        axes.xaxis.get_major_locator().set_params(integer=True)
        if number == 0:
            axes.set_ylabel(y_name)
        if len(stages) > 1:
            axes.set_title(stage, fontsize=10, color=INK)
        panels[stage] = axes
    return figure, panels
