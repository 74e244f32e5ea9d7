import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.ranking.contributions import Part, score_parts
from tests.retrieval.ranking.test_ensemble import Scores, ensemble


def near(source, amount, *others):
    return Part(source, pytest.approx(amount), *others)


def test_the_parts_of_a_score_by_hand():
    # Scaled: words a 1 and d 0, the 2nd best of four; both votes c 1. a cites c, and d stands with c under Wells.
    votes = Scores("votes", [0, 0, 1, 0]), Scores("more votes", [0, 0, 1, 0])
    ranked = ensemble(Scores("words", [4, 0, 0, 3]), *votes)

    of_c, of_d, of_a = score_parts(ranked, "?", [2, 3, 0], 4)
    assert of_c == [
        *(near("votes", 1, 1), near("more votes", 1, 1)),
        *(near("section", 0.6, 1, 2), near("cited_by", 0.1, 2, 0)),
    ]
    assert of_d == [near("section", 0.6, 1, 2)]
    assert of_a == [near("words", 1, 1), near("section", 0.3, 2, 0), near("cites", 0.2, 1, 2)]


def test_the_best_of_a_small_signal_are_few():
    ranked = ensemble(Scores("words", [4, 3, 2, 0]))  # the 2nd best of four has 0
    (of_c,) = score_parts(ranked, "?", [2], 4)
    assert [part.source for part in of_c] == ["cited_by"]


def test_only_what_is_ranked_has_parts():
    ranked = ensemble(Scores("words", [4, 0, 0, 3]))
    assert score_parts(ranked, "?", [1], 4) == [[]]
    assert score_parts(ensemble(Scores("words", [0, 0, 0, 0])), "?", [1], 4) == [[]]
    among = AllowedRows.checked([2, 3], 4)
    assert score_parts(ranked, "?", [0, 3], 4, among) == [[], [near("words", 1, 1), near("section", 0.3, 1, 3)]]
