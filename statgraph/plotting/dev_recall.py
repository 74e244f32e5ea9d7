"""How recall on the dev questions rose."""

from __future__ import annotations

from collections.abc import Sequence

from statgraph.plotting.curves import curve_figure
from statgraph.plotting.drawing import HUES, INK, Drawing

_CUTOFFS = ("R@100", "R@200", "R@500")
_SELECTION = "R@200"  # the epoch that a stage keeps
_MARKS = ("o", "s", "^")


def dev_recall_drawing(records: Sequence[dict]) -> Drawing:
    """Return recall on dev by epoch, in percent; epoch 0 is the stage as it came.

    Args:
        records: the lines of `metrics.jsonl`; those without dev metrics are left out.
    """
    measured = [record for record in records if _SELECTION in record]
    figure, panels = curve_figure(
        list(dict.fromkeys(record["stage"] for record in measured)), y_name="recall on dev, %"
    )
    hovers, table, kept = {}, [], []
    for panel, (stage, axes) in enumerate(panels.items()):
        epochs = [record for record in measured if record["stage"] == stage]
        best = max(epochs, key=lambda record: record[_SELECTION])
        kept.append(f"epoch {best['epoch']} of {stage}")
        for number, cutoff in enumerate(cutoff for cutoff in _CUTOFFS if cutoff in epochs[0]):
            xs, ys = [record["epoch"] for record in epochs], [100 * record[cutoff] for record in epochs]
            axes.plot(xs, ys, color=HUES[number], linewidth=1.6)
            points = axes.scatter(xs, ys, s=28, marker=_MARKS[number], color=HUES[number], label=cutoff, zorder=3)
            part = f"recall-{panel}-{number}"
            points.set_gid(part)
            hovers[part] = tuple(f"{stage}, epoch {x}: {cutoff} {y:.1f}" for x, y in zip(xs, ys, strict=True))
        axes.axvline(best["epoch"], color=INK, linewidth=0.8, linestyle=":", label="kept")
        axes.set_xlabel("epoch")
        for record in epochs:
            values = (f"{100 * record[cutoff]:.1f}" if cutoff in record else "" for cutoff in _CUTOFFS)
            table.append((stage, record["epoch"], *values, "kept" if record is best else ""))
    lowest = min((axes.get_ylim()[0] for axes in panels.values()), default=0)
    for axes in panels.values():
        axes.set_ylim(max(0, lowest), min(101, max(other.get_ylim()[1] for other in panels.values())))
    next(iter(panels.values())).legend(frameon=False, labelcolor=INK, fontsize=9, loc="lower right")
    return Drawing(
        name="dev-recall",
        title="How recall on dev rose",
        description=(
            "Share of a dev question's articles among the first 100, 200 and 500 hits, by epoch; epoch 0 is the stage "
            f"before training. Dotted: the epoch kept, that of the highest {_SELECTION} ({', '.join(kept)})."
        ),
        figure=figure,
        columns=("stage", "epoch", *_CUTOFFS, ""),
        rows=tuple(table),
        hovers=hovers,
    )
