from dataclasses import replace

import numpy as np
import pytest

from statgraph.law.query import Ranked
from statgraph.law.records import CitingText, Question
from statgraph.studies.spec import RowSpec, TableSpec
from statgraph.studies.summary import (
    GIVEN_AWAY,
    NOT_GIVEN_AWAY,
    GivenAway,
    SeedSummary,
    metrics_of_sets,
    summaries,
)

SPEC = TableSpec(
    "t", "T", "P", baseline="a", rows=(RowSpec("a", "dsr"), RowSpec("b", "qabisar"), RowSpec("c", "bm25", against="b"))
)


@pytest.fixture
def results(made_up):
    # Means over questions: a 0.25 and 0.5; b 0.75 and 1.
    return {
        "a": {0: made_up([1, 0, 0, 0]), 1: made_up([1, 0, 1, 0], seed=1)},
        "b": {0: made_up([1, 1, 1, 0]), 1: made_up([1, 1, 1, 1], seed=1)},
    }


def test_seeds_are_summarised_by_mean_and_sample_deviation():
    # Squared distances from 0.4: 0.04, 0, 0.04; over n - 1 = 2: 0.04.
    assert SeedSummary.of([0.2, 0.4, 0.6]) == SeedSummary(pytest.approx(0.4), pytest.approx(0.2), 3)
    assert SeedSummary.of([0.2]) == SeedSummary(0.2, None, 1)


def test_mean_and_spread_over_seeds(results):
    first, second = summaries(SPEC, results)
    recall = first.strata["all"]["R@200"]
    assert recall.mean == 0.375
    assert recall.sd == pytest.approx(0.125 * 2**0.5)  # sqrt((0.125² + 0.125²) / 1)
    assert second.strata["all"]["mAP"].mean == 0.4375
    assert (first.strata["seen"]["R@200"].mean, first.strata["seen"]["R@200"].sd) == (0.5, 0.0)
    assert first.strata["unseen"]["R@200"].mean == 0.25
    assert "cites itself" not in first.strata
    assert first.n_questions == {"all": 4, "seen": 2, "unseen": 2, "cites itself": 0}


def test_differences_from_the_other_row(results):
    first, second = summaries(SPEC, results)
    assert (first.against, first.differences) == ("", {})
    assert second.against == "a"
    assert list(second.differences["all"]) == ["R@100", "R@200", "mAP"]
    # Of the questions' means over seeds: b (1, 1, 1, 0.5) less a (1, 0, 0.5, 0) is (0, 1, 0.5, 0.5), 0.5 on average.
    assert second.differences["all"]["R@200"].difference == pytest.approx(0.5)
    assert second.differences["all"]["mAP"].difference == pytest.approx(0.25)
    # The made-up results hold the first two questions as seen: (0, 1), and the others as unseen: (0.5, 0.5).
    by_part = {stratum: compared["R@200"].difference for stratum, compared in second.differences.items()}
    assert by_part == pytest.approx({"all": 0.5, "seen": 0.5, "unseen": 0.5})
    assert second.differences["seen"]["R@200"].n_questions == 2


def test_a_row_without_runs_is_left_out_and_not_compared_with(made_up):
    (only,) = summaries(SPEC, {"c": {0: made_up([1, 1, 1, 1])}, "b": {}})
    assert (only.spec.name, only.against, only.differences) == ("c", "b", {})
    assert only.strata["all"]["R@200"].sd is None


def asking(text: str, *article_ids: str, question_id: str = "q") -> Question:
    return Question(question_id, text, "test", article_ids)


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (asking("Taxes : dogs  are TAXED.", "dogs2"), True),
        (asking("Taxes : Dogs are taxed.", "wells1"), False),  # that text cites another article
        (asking("Dogs are taxed. When?", "dogs2"), False),
        (asking("When may I burn my lamps?", "lamps1"), False),
        (asking("What does article 5 say?", "wells1"), True),
        (asking("What does article 99 say?", "wells1"), False),
        # Of a test question's own text nothing may be trained on.
        (asking("Fences : A fence costs one crown a yard each year.", "fences2"), False),
    ],
)
def test_what_is_given_away(referring_town, cited_town, question, given):
    corpus = replace(referring_town, citing=cited_town.citing)
    other = asking("Are there fences?" if given else "What does article 3 say?", "dogs1", question_id="other")
    masks = GivenAway(corpus).masks([question, other])
    assert masks[GIVEN_AWAY].tolist() == [given, not given]
    assert masks[NOT_GIVEN_AWAY].tolist() == [not given, given]


def test_where_all_or_none_are_there_are_no_strata(town_corpus):
    assert GivenAway(town_corpus).masks(town_corpus.split("test")) == {}
    text = CitingText("c", "", town_corpus.split("test")[0].text, town_corpus.split("test")[0].article_ids)
    assert GivenAway(replace(town_corpus, citing=(text,))).masks(town_corpus.split("test")[:1]) == {}


def test_a_table_has_the_strata_of_each_set(town_corpus):
    class InOrder:
        def rank(self, questions, k):
            return [Ranked(np.arange(16), np.zeros(16))] * len(questions)

    first, second, *others = town_corpus.split("test")
    references = {"metadata": {"set": "references"}}
    named, plain = replace(first, text=town_corpus.articles[0].title, **references), replace(second, **references)
    corpus = replace(town_corpus, questions=(*town_corpus.split("train"), *others, named, plain))
    masks = metrics_of_sets(InOrder(), corpus, "test", GivenAway(corpus)).masks
    assert masks[f"references: {NOT_GIVEN_AWAY}"].sum() == masks[f"references: {GIVEN_AWAY}"].sum() == 1
    assert NOT_GIVEN_AWAY not in masks
