import io
import json

import ir_measures
import numpy as np
import pytest
from rich.console import Console

from statgraph.errors import RunError
from statgraph.evaluation.metrics import METRICS, question_metrics
from statgraph.evaluation.report import (
    Report,
    Stratum,
    comparison_table,
    evaluation_report,
    report_table,
    strata_comparison_table,
    strata_table,
    write_trec_qrels,
    write_trec_run,
)
from statgraph.evaluation.significance import Comparison, Estimate, MetricComparison
from statgraph.law.query import Ranked

BY_ARTICLE = {"S@3": 0.25, "MRR@10": 0.5}


@pytest.fixture
def report() -> Report:
    labels = [[0], [1], [2]]
    metrics = question_metrics([np.array([0, 5]), np.array([5, 1]), np.array([5, 6])], labels, 2501)
    masks = {
        "all": np.array([True, True, True]),
        "seen": np.array([True, True, False]),
        "unseen": np.array([False, False, True]),
    }
    return evaluation_report(
        metrics, masks, split="test", n_articles=2501, by_article=BY_ARTICLE, rng=np.random.default_rng(0)
    )


def test_report_holds_the_mean_of_each_stratum(report):
    assert {name: stratum.n_questions for name, stratum in report.strata.items()} == {"all": 3, "seen": 2, "unseen": 1}
    assert report.strata["all"].metrics["mAP"].mean == report.metrics["mAP"] == (1 + 1 / 2 + 0) / 3
    assert tuple(report.metrics) == METRICS
    assert Report("test", {}, 16).metrics == {}
    assert report.strata["seen"].metrics["MRR@10"].mean == (1 + 1 / 2) / 2
    assert report.strata["unseen"].metrics["R@100"] == Estimate(0.0, 0.0, 0.0)
    assert tuple(report.strata["all"].metrics) == METRICS


def test_report_comes_back_from_json(report):
    assert Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report


def test_a_stratum_without_questions_has_no_metrics():
    metrics = question_metrics([np.array([0])], [[0]], 16)
    masks = {"seen": np.array([False]), "unseen": np.array([True])}
    report = evaluation_report(metrics, masks, split="dev", n_articles=16, by_article={}, rng=np.random.default_rng(0))
    assert report.strata["seen"].n_questions == 0
    assert report.strata["seen"].metrics == {}
    assert Report.from_dict(report.to_dict()) == report


@pytest.mark.parametrize("saved", [{}, {"split": "test", "strata": []}, {"split": "test", "strata": {"all": 3}}])
def test_what_is_no_report_is_refused(saved):
    with pytest.raises(RunError, match=r"^report: not readable \(.*\); evaluate the run again$"):
        Report.from_dict(saved)


def test_notes_say_what_is_left_out_what_quality_is_and_each_article_counted_once(report):
    quality = "quality: mean of mAP and R@25; training and tuning choose by it"
    assert Report("test", {}, n_articles=2501).notes() == [quality]
    left_out = "left out: R@500 (a fifth of the 2,500 articles or more)"
    assert Report("test", {}, n_articles=2500).notes() == [left_out, quality]
    assert report.notes() == ["with each article counted once: S@3 25.0, MRR@10 50.0", quality]


EVERY_METRIC = {
    "R@10": Estimate(0.6461, 0.58, 0.709),
    "R@100": Estimate(0.9, 0.8, 1.0),
    "S@3": Estimate(0.5, 0.4, 0.6),
    "mAP": Estimate(0.75, 0.6, 0.9),
    "mRP": Estimate(0.125, 0.1, 0.2),
}


def printed(table, width: int = 80) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(table)
    return capture.get()


def cells(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.splitlines()]


def test_table_shows_percent_with_the_interval_and_a_dash_where_there_is_none():
    strata = {"all": Stratum(161, {"R@100": Estimate(0.6461, 0.58, 0.709)}), "seen": Stratum(0, {})}
    strata["gold: 1"] = Stratum(4, EVERY_METRIC)  # of the other table
    text = printed(report_table(Report("test", strata, 2501)), width=100)
    assert ["R@100", "64.6 [58.0, 70.9]", "-"] in cells(text)
    assert "test split, mean in % [95% interval]" in text
    assert "all (n = 161)" in text
    assert "gold" not in text


def test_strata_stand_in_rows_with_the_interval_of_one_metric():
    strata = {
        "all": Stratum(161, EVERY_METRIC),
        "gold: 1": Stratum(4, EVERY_METRIC),
        "topic: Work": Stratum(5, EVERY_METRIC),
        "topic: Rent": Stratum(4, EVERY_METRIC),
    }
    text = printed(strata_table(Report("test", strata, 2501)))
    assert [row for row in cells(text) if len(row) == 6] == [
        ["gold: 1", "4", "50.0", "64.6", "90.0", "75.0 [60.0, 90.0]"],
        ["topic: Work", "5", "50.0", "64.6", "90.0", "75.0 [60.0, 90.0]"],
    ]
    assert "test split by stratum" in text
    assert "1 smaller topic in --json" in text


def test_strata_show_no_column_for_what_is_left_out():
    few = {name: EVERY_METRIC[name] for name in ("R@10", "mAP")}
    text = printed(strata_table(Report("test", {"gold: 1": Stratum(4, few), "gold: 2-5": Stratum(0, {})}, 2501)))
    assert [row for row in cells(text) if len(row) == 4] == [
        ["gold: 1", "4", "64.6", "75.0 [60.0, 90.0]"], ["gold: 2-5", "0", "-", "-"],
    ]  # fmt: skip


def test_a_long_topic_with_brackets_fits_a_terminal_and_keeps_them():
    name = "topic: [bold] Formalités administratives d'une association sans but lucratif"
    text = printed(strata_table(Report("test", {name: Stratum(5, EVERY_METRIC)}, 2501)))
    assert "[bold]" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "75.0 [60.0, 90.0]" in text


def test_without_families_there_is_no_table_of_strata():
    few = {"all": Stratum(9, EVERY_METRIC), "topic: A": Stratum(4, EVERY_METRIC)}
    assert strata_table(Report("test", few, 2501)) is None


def test_comparison_shows_both_means_and_stars_what_is_significant():
    comparisons = {
        "R@100": MetricComparison(0.5, 0.6461, Comparison(0.1461, 0.1, 0.2, 0.0123, True, 161), 0.0246),
        "mAP": MetricComparison(0.25, 0.2, Comparison(-0.05, -0.11, 0.01, 0.2, False, 161), 0.2),
    }
    text = printed(comparison_table(comparisons, "runs/[b]bm25"))
    assert ["R@100", "50.0", "64.6", "+14.6 [+10.0, +20.0]", "0.0123*", "0.0246"] in cells(text)
    assert ["mAP", "25.0", "20.0", "-5.0 [-11.0, +1.0]", "0.2000", "0.2000"] in cells(text)
    assert "difference to runs/[b]bm25, in points [95% interval]" in text
    assert "* interval excludes 0 and p < 0.05" in text
    assert "*" not in printed(comparison_table({"mAP": comparisons["mAP"]}, "runs/bm25"))


def test_a_stratum_has_its_differences():
    gain, loss = Comparison(0.1461, 0.1, 0.2, 0.0123, True, 61), Comparison(-0.05, -0.11, 0.01, 0.2, False, 61)
    strata = {
        "unlike training": {
            "S@3": MetricComparison(0.5, 0.6461, gain, 0.0246),
            "mAP": MetricComparison(0.25, 0.2, loss, 0.2),
        }
    }
    text = printed(strata_comparison_table(strata))
    assert ["unlike training", "61", "+14.6", "-5.0 [-11.0, +1.0]"] in cells(text)
    assert strata_comparison_table({}) is None


ARTICLE_IDS = ["A", "B", "C"]


def run_of(question_ids=("q1",), rows=((2, 0),), scores=((0.5, 0.25),), article_ids=ARTICLE_IDS, **options) -> str:
    stream = io.StringIO()
    rankings = [Ranked(*ranking) for ranking in zip(np.array(rows), np.array(scores, dtype=np.float32), strict=True)]
    write_trec_run(stream, question_ids, rankings, article_ids, **options)
    return stream.getvalue()


def test_run_has_one_line_per_hit_with_ranks_from_one():
    assert run_of() == "q1 Q0 C 1 0.5 statgraph\nq1 Q0 A 2 0.25 statgraph\n"


@pytest.mark.parametrize("score", [0.0, 1e-8, 0.7, -0.3, 25.0, 1e20])
def test_tools_that_sort_by_score_keep_the_order_of_ties(score):
    """The answer is the second of four equal hits: mAP 1/2. By id, trec_eval would have it first or last."""
    scores = [(score, score, score, np.nextafter(np.float32(score), np.float32(-np.inf)))]
    run = run_of(rows=[(1, 3, 0, 2)], scores=scores, article_ids=["A", "B", "C", "D"])
    qrels = io.StringIO()
    write_trec_qrels(qrels, {"q1": ["D"]})
    hits = list(ir_measures.read_trec_run(io.StringIO(run)))
    assert [hit.doc_id for hit in hits] == ["B", "D", "A", "C"]
    written = np.array([hit.score for hit in hits], dtype=np.float32)
    assert (np.diff(written) < 0).all()
    assert written == pytest.approx([score] * 4, rel=1e-6, abs=1e-20)
    labels = list(ir_measures.read_trec_qrels(io.StringIO(qrels.getvalue())))
    assert ir_measures.calc_aggregate([ir_measures.AP], labels, hits) == {ir_measures.AP: 0.5}


def test_ids_with_blanks_are_spelt_alike_in_runs_and_labels():
    article_id = "Art. 3\u00a0%20"
    run = run_of(question_ids=["q\t1"], article_ids=["A", "B", article_id])
    qrels = io.StringIO()
    write_trec_qrels(qrels, {"q\t1": [article_id]})
    labels = list(ir_measures.read_trec_qrels(io.StringIO(qrels.getvalue())))
    hits = list(ir_measures.read_trec_run(io.StringIO(run)))
    assert (hits[0].query_id, hits[0].doc_id) == ("q%091", "Art.%203%C2%A0%20")
    assert ir_measures.calc_aggregate([ir_measures.AP], labels, hits) == {ir_measures.AP: 1.0}
