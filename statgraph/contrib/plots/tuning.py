"""Pictures of what `statgraph tune` has tried: BM25's grid, and the trials of a study."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from statgraph.contrib.plots.figures import heat_map, line_chart
from statgraph.law.records import Corpus


def draw_grid(result, corpus: Corpus, path: Path) -> None:
    """Draw the metric that decides, in percent, as a heat map over k1 and b; `result` is of `statgraph.tuned_bm25`."""
    names = {"title": f"BM25 on {corpus.name}: dev {result.metric}, %", "xlabel": "b", "ylabel": "k1"}
    heat_map(100 * result.values[result.metric], result.bs, result.k1s, path, **names)


def draw_history(finished: Sequence[tuple[int, float]], n_trials: int, metric: str, path: Path) -> None:
    """Draw the finished ones of a study's trials, each its number and the metric, in percent, and the best so far."""
    numbers = [number for number, _ in finished]
    values = [100 * value for _, value in finished]
    best_so_far = [max(values[: place + 1]) for place in range(len(values))]
    line_chart(
        {"best so far": (numbers, best_so_far), "trial": (numbers, values)},
        path,
        title=f"{len(finished)} finished of {n_trials} trials",
        xlabel="trial",
        ylabel=f"dev {metric}, %",
        points_only=("trial",),
    )
