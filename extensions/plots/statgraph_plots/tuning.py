"""Pictures of what `statgraph tune` has tried: BM25's grid, and the trials of a study."""

from __future__ import annotations

from pathlib import Path

from statgraph.corpus.records import Corpus
from statgraph.lexical.tuning import GridResult
from statgraph.systems.tuning.bm25_grid import SPLIT
from statgraph.systems.tuning.study import Tuning
from statgraph_plots.figures import heat_map, line_chart


def draw_grid(result: GridResult, corpus: Corpus, path: Path) -> None:
    """Draw the metric that decides, in percent, as a heat map over k1 and b."""
    names = {"title": f"BM25 on {corpus.name}: {SPLIT} {result.metric}, %", "xlabel": "b", "ylabel": "k1"}
    heat_map(100 * result.values[result.metric], result.bs, result.k1s, path, **names)


def draw_history(tuning: Tuning, path: Path) -> None:
    """Draw the finished trials of a study, in percent, and the best so far."""
    finished = sorted(tuning.ranked, key=lambda trial: trial.number)
    numbers = [trial.number for trial in finished]
    values = [100 * trial.value for trial in finished]
    best_so_far = [max(values[: place + 1]) for place in range(len(values))]
    line_chart(
        {"best so far": (numbers, best_so_far), "trial": (numbers, values)},
        path,
        title=f"{len(finished)} finished of {len(tuning.trials)} trials",
        xlabel="trial",
        ylabel=f"dev {tuning.metric}, %",
        points_only=("trial",),
    )
