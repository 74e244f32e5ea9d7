from pathlib import Path

import pytest

from statgraph import tuned_bm25
from statgraph.contrib.plots import tuning
from statgraph.contrib.plots.tuning import draw_grid, draw_history


@pytest.fixture
def shown(monkeypatch):
    """Return a list that gets what every chart is given: (its arguments, its names)."""
    given = []
    for name in ("heat_map", "line_chart"):
        monkeypatch.setattr(tuning, name, lambda *shown, **names: given.append((shown, names)))
    return given


def test_a_grid_is_a_heat_map_in_percent(town_corpus, shown):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.4, 0.9], select_by="mAP")
    draw_grid(grid, town_corpus, Path("grid.png"))
    (((values, *others), names),) = shown
    assert values.tolist() == (100 * grid.values["mAP"]).tolist()
    assert (others, names["title"]) == ([grid.bs, grid.k1s, Path("grid.png")], "BM25 on town: dev mAP, %")
    assert (grid.bs, grid.k1s) == ((0.0, 0.4, 0.9), (0.5, 2.5))


def test_a_history_has_the_finished_trials_in_their_order_and_the_best_so_far(shown):
    draw_history([(1, 0.25), (3, 0.5), (4, 0.375)], 4, "mAP", Path("history.png"))
    (((series, _), names),) = shown
    assert series == {"best so far": ([1, 3, 4], [25, 50, 50]), "trial": ([1, 3, 4], [25, 50, 37.5])}
    assert (names["title"], names["ylabel"]) == ("3 finished of 4 trials", "dev mAP, %")
