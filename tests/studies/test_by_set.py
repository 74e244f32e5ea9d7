import dataclasses

import numpy as np
import pytest

from statgraph.evaluation.metrics import METRICS, QuestionMetrics
from statgraph.search.evaluating import SplitMetrics
from statgraph.studies.by_set import by_set_text, set_tables
from statgraph.studies.rendering import About
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.store import RunResult
from statgraph.studies.summary import summaries

SPEC = TableSpec(
    "t", "A title", "P", baseline="a", metrics=("R@100", "mAP"), by_set=True,
    rows=(RowSpec("a", "bm25"), RowSpec("b", "ensemble")),
)  # fmt: skip
ABOUT = About("town", "test (8 questions)", 1, "statgraph reproduce t", ("abc",), ("a machine",))


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
def rows():
    signals = {"bm25": [1, 0, 0, 0, 0, 0, 0, 0], "citing": [0, 0, 0, 0, 1, 1, 1, 1]}
    return summaries(
        SPEC,
        {
            "a": {0: result([1, 0, 0, 0, 0, 0, 0, 0])},
            "b": {0: result([1, 1, 1, 1, 1, 1, 1, 0], **signals), 1: result([1, 1, 0, 0, 1, 1, 1, 0], 1, **signals)},
        },
    )


def test_a_table_for_each_set(rows):
    lines = set_tables(SPEC, rows)
    assert [line for line in lines if line.startswith("#")] == ["## questions", "## lay"]
    assert lines[2:6] == ["4 questions.", "", "| row | seeds | R@100 | mAP |", "| --- | --- | --- | --- |"]
    # The seeds' means are 1 and 0.5: squared distances 2 * 0.25² over n - 1 = 1.
    assert "| b | 2 | 75.0 ± 35.4 [50.0, 100.0] | 37.5 ± 17.7 [25.0, 50.0] |" in lines
    assert "| a | 1 | 25.0 [0.0, 75.0] | 12.5 [0.0, 37.5] |" in lines


def test_the_best_signal_is_found_for_each_set(rows):
    of_a, of_b = rows
    assert of_a.best_signals == {}
    best = {stratum: compared["R@100"] for stratum, compared in of_b.best_signals.items()}
    assert list(best) == ["all", "seen", "unseen", "kind: topic", "lay: all", "lay: seen"]
    # Questions: b (1, 1, 0.5, 0.5) less bm25 (1, 0, 0, 0) is 0.5 on average; lay: (1, 1, 1, 0) less all 1 is -0.25.
    assert (best["all"][0], best["all"][1].difference) == ("bm25", pytest.approx(0.5))
    assert (best["lay: all"][0], best["lay: all"][1].difference) == ("citing", pytest.approx(-0.25))


def test_the_whole_text(rows):
    text = by_set_text(SPEC, rows, ABOUT)
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
    spec = dataclasses.replace(SPEC, rows=(*SPEC.rows, RowSpec("c", "dsr")))
    masks = {"all": np.ones(8, dtype=bool)}

    def plain(recalls):
        whole = result(recalls)
        return {0: RunResult(dataclasses.replace(whole.metrics, masks=masks), whole.about)}

    # b: 2 of 2^8 swaps are as extreme, p = 1/128 in both metrics; c: 1 in both. Adjusted by 4 / 2.
    rows = summaries(spec, {"a": plain([0] * 8), "b": plain(better), "c": plain([0] * 8)})
    text = by_set_text(spec, rows, ABOUT)
    assert "| b | +100.0 [+100.0, +100.0], p = 0.016 | +50.0 [+50.0, +50.0], p = 0.016 |" in text
    assert "| c | +0.0 [+0.0, +0.0], p = 1.000, n.s. | +0.0 [+0.0, +0.0], p = 1.000, n.s. |" in text
