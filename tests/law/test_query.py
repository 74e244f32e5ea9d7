from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from statgraph.errors import UsageError
from statgraph.law.query import (
    LIMITS,
    Judged,
    Query,
    Ranked,
    known_probabilities,
    queries_of,
    reciprocal_rank_fusion,
)


def test_what_is_left_out_limits_nothing():
    query = Query("Who pays?")
    assert (query.k, query.codes, query.heading, query.as_of, query.among) == (10, (), (), "today", None)


def test_lists_and_numpy_numbers_are_taken():
    query = Query("Who pays?", np.int64(3), codes=["Civil Code"], heading=["Civil Code", "Leases"])
    assert (query.k, type(query.k)) == (3, int)
    assert (query.codes, query.heading) == (("Civil Code",), ("Civil Code", "Leases"))


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"text": None}, r"the question: must be text \(got NoneType\)"),
        ({"text": " \n"}, "the question is blank"),
        ({"text": "a\ud800"}, "the question: character 2 is half a character"),
        ({"k": "3"}, r"k: must be a whole number of at least 1 \(got '3'\)"),
        ({"k": 2.0}, r"k: must be a whole number of at least 1 \(got 2.0\)"),
        ({"k": True}, r"k: must be a whole number of at least 1 \(got True\)"),
        ({"k": 0}, r"k: must be at least 1 \(got 0\)"),
        ({"codes": "Ley"}, r"codes: must be a list of titles, such as \['Ley'\] \(got 'Ley'\)"),
        ({"codes": 3}, r"codes: must be a list of titles, such as \['3'\] \(got 3\)"),
        ({"heading": ["Ley", 1]}, r"heading: each title must be text \(got 1\)"),
    ],
)
def test_what_cannot_be_asked_is_refused(values, line):
    with pytest.raises(UsageError, match=f"^{line}"):
        Query(**{"text": "Who pays?", **values})


def test_queries_that_differ_in_any_limit_are_ranked_apart():
    query = Query("Who pays?", among=np.array([1]))
    assert replace(query, text="When?").limits == query.limits
    changed = {"k": 3, "codes": ("Civil Code",), "heading": ("Civil Code",), "as_of": "2020-01-31", "among": None}
    assert set(changed) == {*LIMITS, "among"}
    for name, value in changed.items():
        assert replace(query, **{name: value}).limits != query.limits
    assert replace(query, as_of=date.today()).limits == query.limits


def test_an_unknown_limit_is_refused():
    with pytest.raises(UsageError, match=f"limit of a search 'asof'; choose from {', '.join(LIMITS)}, among$"):
        queries_of(["Who pays?"], 3, {"asof": "2020-01-31"})


def test_a_judged_ranking_is_a_ranking_with_probabilities():
    ranked = Ranked(np.array([4, 2]), np.array([0.5, 0.25], dtype=np.float32))
    judged = Judged.of(ranked, np.array([0.75, 0.125]))
    rows, _ = judged
    assert (rows.tolist(), known_probabilities(judged)) == ([4, 2], [0.75, 0.125])
    assert known_probabilities(ranked) == [None, None]


def test_fused_scores_add_up_over_the_rankings():
    ranks = [np.array([1, 4, 2, 2]), np.array([3, 1, np.inf, 2])]  # the second does not hold the third item
    expected = [1 / 61 + 1 / 63, 1 / 64 + 1 / 61, 1 / 62, 1 / 62 + 1 / 62]
    assert reciprocal_rank_fusion(ranks, 60).tolist() == pytest.approx(expected)
