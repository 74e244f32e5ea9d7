import numpy as np
import pytest

from statgraph.law.structure import Structure
from statgraph.retrieval.ranking.candidates import Candidates
from statgraph.retrieval.ranking.weighted_sum import AROUND, WeightedSum, learnt
from tests.retrieval.ranking.test_ensemble import ARTICLES

STRUCTURE = Structure.of(ARTICLES)
NOTHING_AROUND = dict.fromkeys(AROUND, 0.0)


def candidates(rows=(0, 3), **scaled):
    values = np.array(list(scaled.values()), dtype=np.float32)
    return Candidates(np.array(rows), tuple(scaled), values, values, values, STRUCTURE)


def test_the_terms_add_up_to_the_score():
    ranker = WeightedSum({"words": 0.6, "votes": 0.4}, {"section": 0.5, "cited_by": 0.25, "cites": 0.125})
    # a cites c; b stands with a, d with c.
    known = candidates((0, 1, 2, 3), words=[1, 0, 0, 0.5], votes=[0, 0, 1, 0])
    terms = ranker.terms(known)
    assert terms["words"] == pytest.approx([0.6, 0, 0, 0.3])
    assert terms["votes"] == pytest.approx([0, 0, 0.4, 0])
    assert terms["section"] == pytest.approx([0.3, 0.3, 0.2, 0.2])
    assert terms["cited_by"] == pytest.approx([0, 0, 0.15, 0])
    assert terms["cites"] == pytest.approx([0.05, 0, 0, 0])
    assert ranker.scores(known) == pytest.approx(sum(terms.values()))


def test_what_is_right_gains_weight_and_what_is_wrong_loses_it():
    prior = WeightedSum({"words": 0.5, "votes": 0.5, "citation": 2.0}, NOTHING_AROUND)
    asked = [candidates(words=[1, 0], votes=[0, 1], citation=[0, 0])] * 40  # votes find article 3, the answer
    ranker = learnt(prior, asked, [[3]] * 40)
    assert ranker.signals["votes"] > 0.6
    assert ranker.signals["words"] >= 0
    assert ranker.signals["words"] + ranker.signals["votes"] == pytest.approx(1)
    assert ranker.signals["citation"] == 2  # what is named stays above all
    assert ranker.around == NOTHING_AROUND  # what the prior leaves out stays out


def test_few_questions_move_the_weights_little():
    prior = WeightedSum({"words": 0.5, "votes": 0.5}, NOTHING_AROUND)
    asked = candidates(words=[1, 0], votes=[0, 1])
    moved = [learnt(prior, [asked] * n, [[3]] * n).signals["votes"] for n in (1, 3, 30)]
    assert 0.5 < moved[0] < moved[1] < moved[2]
    assert moved[0] < 0.8


def test_without_an_answer_among_the_candidates_the_prior_stays():
    prior = WeightedSum({"words": 0.7, "votes": 0.3}, NOTHING_AROUND)
    assert learnt(prior, [candidates(words=[1, 0], votes=[0, 1])], [[2]]) == prior
    assert learnt(prior, [], []) == prior


def test_what_stands_around_an_answer_gains_weight():
    prior = WeightedSum({"words": 1.0}, {"section": 0.1, "cited_by": 0.1, "cites": 0.1})
    # The answer is c, which a cites; words find a, and d, which stands with c, a little.
    asked = [candidates((0, 1, 2, 3), words=[1, 0, 0, 0])] * 40
    ranker = learnt(prior, asked, [[2]] * 40)
    assert ranker.around["cited_by"] > 0.5
    assert ranker.around["section"] < 0.1
