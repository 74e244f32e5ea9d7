import dataclasses
import sys

import pytest

from statgraph import artifacts
from statgraph.contrib.tuning.bm25_grid import DEFAULT_BS, DEFAULT_K1S, GRID, HEAT_MAP, tuned_bm25, write_grid
from statgraph.errors import UsageError
from statgraph.systems.model_card import read_run_report
from statgraph.systems.pipeline import train_run
from statgraph.systems.presets import resolve_config


def test_a_point_has_the_values_of_a_run_with_these_parameters(town_corpus, tmp_path):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.9], select_by="mAP")
    for row, k1 in enumerate(grid.k1s):
        for column, b in enumerate(grid.bs):
            settings = ("device=cpu", f"bm25.k1={k1}", f"bm25.b={b}")
            run = train_run(town_corpus, resolve_config("bm25", settings), tmp_path / f"{row}{column}")
            means = {
                name: estimate.mean for name, estimate in read_run_report(run.folder).strata["all"].metrics.items()
            }
            assert {name: table[row, column] for name, table in grid.values.items()} == pytest.approx(means)
    assert grid.best.value == grid.values["mAP"].max()


def test_headings_count(town_corpus):
    questions = [
        dataclasses.replace(question, text="Duties") if question.split == "dev" else question
        for question in town_corpus.questions
    ]
    by_heading = dataclasses.replace(town_corpus, questions=tuple(questions))
    found = tuned_bm25(by_heading, [1.0], [0.5]).values["mRP"][0, 0]
    unfound = tuned_bm25(by_heading, [1.0], [0.5], heading_path=False).values["mAP"][0, 0]
    assert found > 0
    assert unfound < tuned_bm25(by_heading, [1.0], [0.5]).values["mAP"][0, 0]


def test_the_default_grid():
    assert (len(DEFAULT_K1S), DEFAULT_K1S[0], DEFAULT_K1S[1], DEFAULT_K1S[-1]) == (17, 0.0, 0.5, 8.0)
    assert (len(DEFAULT_BS), DEFAULT_BS[0], DEFAULT_BS[3], DEFAULT_BS[-1]) == (11, 0.0, 0.3, 1.0)


@pytest.mark.parametrize("asked", ["quality", "R@200"])
def test_quality_decides_unless_another_metric_tells_the_points_apart(town_corpus, asked):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.9], select_by=asked, stop_words=True)
    assert grid.metric == "quality"
    assert grid.best.value == grid.values["quality"].max() < 1


def test_a_split_without_questions_is_refused(town_corpus):
    undecided = dataclasses.replace(town_corpus, questions=town_corpus.split("train"))
    with pytest.raises(UsageError, match="split 'dev'"):
        tuned_bm25(undecided)


def test_what_is_written(town_corpus, tmp_path):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.4, 0.9], select_by="mAP")
    write_grid(grid, town_corpus, tmp_path / "out")
    saved = artifacts.read_json(tmp_path / "out" / GRID)
    assert (saved["k1"], saved["b"], saved["metric"], saved["split"]) == ([0.5, 2.5], [0.0, 0.4, 0.9], "mAP", "dev")
    assert saved["values"]["R@3"] == grid.values["R@3"].tolist()
    assert saved["best"] == dataclasses.asdict(grid.best)
    assert saved["corpus"] == {"name": "town", "content_hash": town_corpus.content_hash}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [GRID, HEAT_MAP]


def test_without_plots_the_numbers_are_written_alone(town_corpus, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "statgraph.contrib.plots.tuning", raising=False)
    monkeypatch.setitem(sys.modules, "statgraph.contrib.plots", None)
    write_grid(tuned_bm25(town_corpus, [0.5], [0.0]), town_corpus, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [GRID]
