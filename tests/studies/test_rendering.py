import dataclasses

import numpy as np
import pytest

from statgraph.evaluation.metrics import METRICS, QuestionMetrics
from statgraph.retrieval.search.evaluating import SplitMetrics
from statgraph.studies.rendering import (
    About,
    main_table,
    main_tables,
    rows_figure,
    stratum_table,
    table,
    table_text,
    time_table,
)
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult
from statgraph.studies.summary import summaries

SPEC = TableSpec(
    "t",
    "A title",
    "a paper, table 1",
    baseline="a",
    metrics=("R@200", "mAP"),
    paper_read_in="its table 1",
    rows=(RowSpec("a", "dsr"), RowSpec("b", "qabisar", paper={"R@200": 77.72})),
)
ABOUT = About("town", "test (4 questions)", 2, "statgraph reproduce t", ("abc",), ("a machine",))


@pytest.fixture
def rows(made_up):
    steps = [{"name": "stage 1", "seconds": 4.0, "peak_mib": 900}, {"name": "index", "seconds": 1.0, "peak_mib": 1200}]
    slower = [{"name": "stage 1", "seconds": 6.0, "peak_mib": 1000}]
    return summaries(
        SPEC,
        {
            "a": {0: made_up([1, 0, 0, 0], steps=steps), 1: made_up([1, 0, 1, 0], seed=1, steps=slower, seconds=20.0)},
            "b": {0: made_up([1, 1, 1, 0], resumed=True)},
        },
    )


def test_columns_of_numbers_are_aligned_right():
    assert table(["law", "n"], [["a", 1], ["b|c", 2]], numbers=[1]) == [
        "| law | n |",
        "| --- | ---: |",
        "| a | 1 |",
        "| b/c | 2 |",
    ]


def test_the_figures_beside_the_papers(rows):
    assert main_table(SPEC, rows) == [
        "| row | seeds | R@200 | mAP | R@200, paper (BSARD) |",
        "| --- | --- | --- | --- | --- |",
        "| a | 2 | 37.5 ± 17.7 | 18.8 ± 8.8 | - |",
        "| b | 1 | 75.0 | 37.5 | 77.7 |",
    ]


def test_the_strata(rows):
    assert stratum_table(SPEC, rows, "unseen") == [
        "2 questions.", "", "| row | seeds | R@200 | mAP |", "| --- | --- | --- | --- |",
        "| a | 2 | 25.0 ± 35.4 | 12.5 ± 17.7 |", "| b | 1 | 50.0 | 25.0 |",
    ]  # fmt: skip
    assert stratum_table(SPEC, rows, "cites itself") == ["No question is of this kind."]


def test_time_and_memory(rows):
    assert time_table(rows)[2:] == [
        "| a | stage 1 5, index 1 | 15 s | 1,200 MiB |",
        "| b |  | 10 s (resumed: its last part alone) | 0 MiB |",
    ]


def test_the_whole_text(rows):
    text = table_text(SPEC, rows, ABOUT)
    assert text.startswith(
        "# A title\n\nAfter a paper, table 1.\n\n- Corpus: town\n- Split: test (4 questions)\n"
        "- Seeds: 0, 1; rows with nothing random: one run\n- Command: `statgraph reproduce t`\n- Commit: abc\n"
        "- Machine: a machine\n\n| row | seeds |"
    )
    # b (1, 1, 1, 0) less a's means over seeds (1, 0, 0.5, 0): (0, 1, 0.5, 0), 0.375 on average.
    assert "\n| b | a | +18.8 [" in text
    assert "| +37.5 [" in text
    assert text.count(", n.s. |") == 9  # three metrics over all, seen and unseen
    assert "\npaper (BSARD): the paper's figures on BSARD, read in its table 1. " in text
    assert "## Seen questions\n\n2 questions.\n" in text
    assert text.endswith("MiB |\n")
    assert "![A title](figure.png)" in table_text(SPEC, rows, ABOUT, picture="figure.png")


def test_what_is_not_as_it_should_be_is_said(rows):
    about = dataclasses.replace(ABOUT, commits=("abc", "def"), missing=("b, seed 1: not run yet",))
    text = table_text(SPEC, rows, about)
    assert "- Commit: abc, def\n" in text
    assert "- Rows were trained at different commits: see `commit` of each run in the JSON\n" in text
    assert "- Missing: b, seed 1: not run yet\n" in text


@pytest.fixture
def two_rows(made_up):
    spec = TableSpec("t", "T", "P", rows=(RowSpec("a", "dsr"), RowSpec("b", "bm25")))
    two_seeds = {0: made_up([1, 0, 0, 0]), 1: made_up([1, 1, 1, 0], seed=1)}
    return summaries(spec, {"a": two_seeds, "b": {0: made_up([1, 1, 0, 0])}})


def test_bars_are_means_with_a_standard_deviation_either_way(two_rows):
    (axes,) = rows_figure(TableSpec("t", "T", "P", figure=("R@200",)), two_rows).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b"]
    assert [bar.get_height() for bar in axes.patches] == [50, 50]
    (whiskers,) = axes.collections
    ends = np.array(whiskers.get_segments())[:, :, 1]  # (bars, 2)
    assert ends == pytest.approx(50 + np.array([[-1, 1], [0, 0]]) * 25 * 2**0.5)


BY_SET = TableSpec(
    "t", "A title", "P", baseline="a", metrics=("R@100", "mAP"), by_set=True,
    rows=(RowSpec("a", "bm25"), RowSpec("b", "ensemble")),
)  # fmt: skip


def measured(recalls) -> SplitMetrics:
    """Return the metrics of eight questions, four of them of the set "lay", from their R@100; others are half of it."""
    values = {name: np.array(recalls) * (1 if name == "R@100" else 0.5) for name in METRICS}
    places = np.arange(8)
    masks = {"all": places < 4, "seen": places < 1, "unseen": (places > 0) & (places < 4), "gold: 1": places < 4}
    masks |= {"kind: topic": places < 2, "lay: all": places > 3, "lay: seen": places > 3, "lay: unseen": places > 7}
    return SplitMetrics(tuple("abcdefgh"), QuestionMetrics(values), masks)


def result(recalls, seed=0, **signals) -> RunResult:
    about = {"seed": seed, "commit": "abc", "machine": "m", "seconds": 10.0, "resumed": False, "steps": []}
    return RunResult(measured(recalls), about, {name: measured(alone) for name, alone in signals.items()})


@pytest.fixture
def set_rows():
    signals = {"bm25": [1, 0, 0, 0, 0, 0, 0, 0], "citing": [0, 0, 0, 0, 1, 1, 1, 1]}
    return summaries(
        BY_SET,
        {
            "a": {0: result([1, 0, 0, 0, 0, 0, 0, 0])},
            "b": {0: result([1, 1, 1, 1, 1, 1, 1, 0], **signals), 1: result([1, 1, 0, 0, 1, 1, 1, 0], 1, **signals)},
        },
    )


def test_a_table_for_each_set(set_rows):
    lines = main_tables(BY_SET, set_rows)
    assert [line for line in lines if line.startswith("#")] == ["## questions", "## lay"]
    assert lines[2:6] == ["4 questions.", "", "| row | seeds | R@100 | mAP |", "| --- | --- | --- | --- |"]
    # The seeds' means are 1 and 0.5: squared distances 2 * 0.25² over n - 1 = 1.
    assert "| b | 2 | 75.0 ± 35.4 [50.0, 100.0] | 37.5 ± 17.7 [25.0, 50.0] |" in lines
    assert "| a | 1 | 25.0 [0.0, 75.0] | 12.5 [0.0, 37.5] |" in lines


def test_the_best_signal_is_found_for_each_set(set_rows):
    of_a, of_b = set_rows
    assert of_a.best_signals == {}
    best = {stratum: compared["R@100"] for stratum, compared in of_b.best_signals.items()}
    assert list(best) == ["all", "seen", "unseen", "kind: topic", "lay: all", "lay: seen"]
    # Questions: b (1, 1, 0.5, 0.5) less bm25 (1, 0, 0, 0) is 0.5 on average; lay: (1, 1, 1, 0) less all 1 is -0.25.
    assert (best["all"][0], best["all"][1].difference) == ("bm25", pytest.approx(0.5))
    assert (best["lay: all"][0], best["lay: all"][1].difference) == ("citing", pytest.approx(-0.25))


def test_the_whole_text_by_set(set_rows):
    text = table_text(BY_SET, set_rows, ABOUT)
    titles = [line for line in text.splitlines() if line.startswith("#")]
    parts = [
        "questions: all",
        "questions: seen",
        "questions: unseen",
        "questions: kind: topic",
        "lay: all",
        "lay: seen",
    ]
    assert titles == [
        "# A title", "## questions", "## lay", *(f"## {part}" for part in parts if not part.endswith("all")),
        "## Differences from a", *(f"### {part}" for part in parts),
        "## Beside the best signal alone", *(f"### {part}, best signal" for part in parts), "## Time and memory",
    ]  # fmt: skip
    # Two comparisons of lay: three of four questions better by 1 in both metrics: p of 2^4 swaps 4/16 twice, so
    # adjusted 0.25 too.
    assert "| b | +75.0 [+25.0, +100.0], p = 0.250, n.s. | +37.5 [+12.5, +50.0], p = 0.250, n.s. |" in text
    assert "| b | citing: -25.0 [-75.0, +0.0], p = 1.000, n.s. |" in text


def test_p_values_are_adjusted_within_a_table():
    better = [1] * 8
    spec = dataclasses.replace(BY_SET, rows=(*BY_SET.rows, RowSpec("c", "dsr")))
    masks = {"all": np.ones(8, dtype=bool)}

    def plain(recalls):
        whole = result(recalls)
        return {0: RunResult(dataclasses.replace(whole.metrics, masks=masks), whole.about)}

    # b: 2 of 2^8 swaps are as extreme, p = 1/128 in both metrics; c: 1 in both. Adjusted by 4 / 2.
    rows = summaries(spec, {"a": plain([0] * 8), "b": plain(better), "c": plain([0] * 8)})
    text = table_text(spec, rows, ABOUT)
    assert "| b | +100.0 [+100.0, +100.0], p = 0.016 | +50.0 [+50.0, +50.0], p = 0.016 |" in text
    assert "| c | +0.0 [+0.0, +0.0], p = 1.000, n.s. | +0.0 [+0.0, +0.0], p = 1.000, n.s. |" in text


def test_a_row_that_noted_it_shows_how_alike_student_and_teacher_are(made_up):
    def noted(cosine, seed):
        curve = [{"stage": "stage2", "teacher cosine": 0.1, "teacher KL": 9.0}]
        curve.append({"stage": "stage2", "teacher cosine": cosine, "teacher KL": 0.25})
        return made_up([1, 0, 0, 0], seed=seed, learning_curve=curve)

    spec = TableSpec("t", "T", "P", metrics=("R@200",), rows=(RowSpec("a", "bm25"), RowSpec("b", "qabisar")))
    rows = summaries(spec, {"a": {0: made_up([1, 0, 0, 0])}, "b": {0: noted(0.5, 0), 1: noted(0.7, 1)}})
    about = About("c", "test", 2, "statgraph reproduce t", ("abc",), ("m",))
    text = table_text(spec, rows, about)
    assert "| row | teacher cosine | teacher KL |\n| --- | --- | --- |\n| b | 0.600 | 0.250 |\n" in text
    assert "Student and teacher" not in table_text(spec, rows[:1], about)
