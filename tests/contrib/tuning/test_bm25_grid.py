import dataclasses
import sys

import numpy as np
import pytest

from statgraph import artifacts, extras
from statgraph.contrib.tuning.bm25_grid import GRID, HEAT_MAP, GridResult, TermCounts, tuned_bm25
from statgraph.errors import UsageError
from statgraph.retrieval.lexical.bm25 import BM25
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
    asking = [dataclasses.replace(question, text="Duties") for question in town_corpus.split("dev")]
    corpus = dataclasses.replace(town_corpus, questions=(*town_corpus.split("train"), *asking))
    with_path, without = (tuned_bm25(corpus, [1.0], [0.5], heading_path=path).values["mAP"] for path in (True, False))
    assert with_path > without


@pytest.mark.parametrize("asked", ["quality", "R@200"])
def test_quality_decides_unless_another_metric_tells_the_points_apart(town_corpus, asked):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.9], select_by=asked, stop_words=True)
    assert grid.metric == "quality"
    assert grid.best.value == grid.values["quality"].max() < 1


def test_what_is_refused(town_corpus):
    undecided = dataclasses.replace(town_corpus, questions=town_corpus.split("train"))
    with pytest.raises(UsageError, match="split 'dev'"):
        tuned_bm25(undecided)
    for k1s, bs, message in (
        ([], [0.5], "k1: no values"),
        ([1.0], [0.5, 0.5], "b: .* twice"),
        ([-1.0], [0.5], r"k1: .*\(got -1.0\)"),
        ([float("inf")], [0.5], r"k1: .*\(got inf\)"),
        ([1.0], [1.5], r"b: .*\(got 1.5\)"),
        ([1.0], [float("nan")], r"b: .*\(got nan\)"),
    ):
        with pytest.raises(UsageError, match=message):
            tuned_bm25(town_corpus, k1s, bs)


def test_what_is_written(town_corpus, tmp_path):
    grid = tuned_bm25(town_corpus, [0.5, 2.5], [0.0, 0.4, 0.9], select_by="mAP", out=tmp_path / "out")
    saved = artifacts.read_json(tmp_path / "out" / GRID)
    assert (saved["k1"], saved["b"], saved["metric"], saved["split"]) == ([0.5, 2.5], [0.0, 0.4, 0.9], "mAP", "dev")
    assert saved["values"]["R@3"] == grid.values["R@3"].tolist()
    assert saved["best"] == dataclasses.asdict(grid.best)
    assert saved["corpus"] == {"name": "town", "content_hash": town_corpus.content_hash}
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [GRID, HEAT_MAP]


def test_without_matplotlib_the_numbers_are_written_alone(town_corpus, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "statgraph.contrib.plots.figures", raising=False)
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    tuned_bm25(town_corpus, [0.5], [0.0], out=tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [GRID]


def test_points_come_best_first_then_by_quality_then_by_k1_and_b():
    values = {"x": np.array([[3.0, 5.0], [5.0, 5.0]]), "quality": np.array([[9.0, 1.0], [1.0, 2.0]])}
    grid = GridResult((2.0, 1.0), (0.5, 0.1), values, "x")
    assert [(point.k1, point.b, point.value) for point in grid.points] == [
        (1.0, 0.1, 5.0), (1.0, 0.5, 5.0), (2.0, 0.1, 5.0), (2.0, 0.5, 3.0),
    ]  # fmt: skip
    values["quality"] = np.array([[9.0, 3.0], [1.0, 2.0]])
    assert (grid.best.k1, grid.best.b) == (2.0, 0.1)


TEXTS = ["cat dog cat", "cat", "bird bird bird bird bird", "", "dog bird dog bird cat dog", "cats and dogs"]
QUESTIONS = ["cat", "cat dog dog", "bird of a cat", "whale", ""]


@pytest.mark.parametrize("k1", [0.0, 0.9, 2.5, 8.0])
@pytest.mark.parametrize("b", [0.0, 0.2, 0.75, 1.0])
@pytest.mark.parametrize(("language", "stop_words"), [("xx", False), ("en", False), ("en", True)])
def test_rankings_are_those_of_bm25(k1, b, language, stop_words):
    index = BM25(TEXTS, language=language, k1=k1, b=b, stop_words=stop_words)
    counts = TermCounts(TEXTS, language, stop_words=stop_words)
    rankings = list(counts.rankings(counts.asked(QUESTIONS), 4, k1=k1, b=b))
    assert [rows.tolist() for rows in rankings] == [index.ranking(question, 4)[0].tolist() for question in QUESTIONS]


def test_rankings_by_hand():
    """At k1 = 0 both score alike; at k1 = 8, b = 0: 2 / 10 and 5 / 13; at b = 1 (4 terms on average): 2 / (2 + 4) and
    5 / (5 + 12)."""
    counts = TermCounts(["bird bird", "bird bird bird bird bird cat"], "xx")
    asked = counts.asked(["bird"])
    first = {(k1, b): next(counts.rankings(asked, 1, k1=k1, b=b)).tolist() for k1 in (0, 8) for b in (0.0, 1.0)}
    assert first == {(0, 0.0): [0], (0, 1.0): [0], (8, 0.0): [1], (8, 1.0): [0]}
