from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.records import Article
from statgraph.law.structure import Structure
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.features import OF_CITED, OF_CITING, OF_SECTION, SUM
from statgraph.retrieval.ranking.fixed import FixedRanker, signal_weights
from statgraph.retrieval.signals.dense import KINDS
from statgraph.retrieval.signals.lexical import TextSignal
from statgraph.retrieval.signals.signal import TRAINED, ZERO_SHOT, Proposal, Signal, SignalInfo

ARTICLES = (
    Article("a", "Art. 1, Code", "See article 3.", ("Code", "Lamps"), 0),
    Article("b", "Art. 2, Code", "Dark.", ("Code", "Lamps"), 1),
    Article("c", "Art. 3, Code", "Light.", ("Code", "Wells"), 2),
    Article("d", "Art. 4, Code", "Water.", ("Code", "Wells"), 3),
)


class Scores(Signal):
    """Scores articles alike whatever the question, or by a function of its text."""

    def __init__(self, name, scores, *, kind="scores", learns=False):
        self.name, self.kind, self.info = name, kind, SignalInfo(learns=learns)
        self._of_text = scores if callable(scores) else lambda text: scores

    def propose(self, questions, k, allowed):
        arrays = (np.array(self._of_text(text), dtype=np.float32) for text in questions.texts)
        return [Proposal.from_scores(scores, k, allowed) for scores in arrays]


def ensemble(*signals, near=0):
    weights = {signal.name: 1.0 for signal in signals}
    structure = Structure.of(ARTICLES)
    return Ensemble(signals, structure, FixedRanker(weights), weights=list(weights.values()), depth=4, near=near)


def test_the_score_is_the_weighted_sum_and_the_surroundings():
    words, votes = Scores("words", [4, 0, 0, 2]), Scores("votes", [0, 0, 1, 0])

    # Scaled: words by the 2nd best (half of four articles), 2 to 4: a 1, d 0; votes: c 1. Their sums: a 1, c 1, d 0.
    (candidates,) = ensemble(words, votes).features(["?"])
    assert candidates.rows.tolist() == [0, 2, 3]
    assert candidates.column(SUM, "scaled").tolist() == [1, 1, 0]
    assert candidates.column(SUM, OF_SECTION).tolist() == [1, 1, 1]  # d by c, which stands with it under Wells
    assert candidates.column(SUM, OF_CITING).tolist() == [0, 1, 0]  # a cites c
    assert candidates.column(SUM, OF_CITED).tolist() == [1, 0, 0]
    ((rows, scores),) = ensemble(words, votes).rank(["?"], 2)
    assert sorted(rows.tolist()) == [0, 2]
    assert scores == pytest.approx([1 + 0.3 + 0.1] * 2)


def test_a_feature_that_is_left_out_does_not_count():
    fixed = FixedRanker({"words": 1.0, "votes": 1.0})
    (candidates,) = ensemble(Scores("words", [4, 0, 0, 2]), Scores("votes", [0, 0, 1, 0])).features(["?"])
    less = candidates.without({(SUM, OF_SECTION), ("words", "score"), ("not", "there")})
    assert set(candidates.names) - set(less.names) == {(SUM, OF_SECTION), ("words", "score")}
    assert less.column(SUM, OF_CITING).tolist() == [0, 1, 0]
    assert (fixed.scores(candidates) - fixed.scores(less)).tolist() == pytest.approx([0.3, 0.3, 0.3])


def test_what_stands_near_the_best_is_a_candidate():
    words = Scores("words", [4, 0, 0, 0])

    (candidates,) = ensemble(words, near=1).features(["?"])
    assert candidates.rows.tolist() == [0, 1, 2]  # b under the same heading, c cited; d is neither
    (candidates,) = ensemble(words, near=1).features(["?"], allowed=AllowedRows.checked([0, 2], 4))
    assert candidates.rows.tolist() == [0, 2]


def test_nothing_is_found_where_no_signal_has_a_candidate():
    ((rows, scores),) = ensemble(Scores("words", [0, 0, 0, 0])).rank(["?"], 3)
    assert (len(rows), len(scores)) == (0, 0)


def test_what_learns_from_questions_counts_by_their_number():
    words, trained, zero_shot = (
        SimpleNamespace(info=info) for info in (TextSignal.info, KINDS[TRAINED], KINDS[ZERO_SHOT])
    )
    assert signal_weights([words, trained], 0).tolist() == [1, 0]
    assert signal_weights([words, trained], 100).tolist() == [1, 0.5]
    assert signal_weights([trained, trained, zero_shot], 300).tolist() == [0.75, 0.75, 1]
    assert signal_weights([Scores("plugin", [])], 300).tolist() == pytest.approx([0.3])  # unless its class says more


SENTENCES = (
    "The cat is well and so am I.",
    "I ask who fills the well.",
    "We had guests.",
    "Kind regards from all of us.",
)
RAIN = "It has rained for weeks, " + "and the dog and the children and everybody else in the house was bored, " * 3
LETTER = " ".join([SENTENCES[0], f"{RAIN}so there.", *SENTENCES[1:]])


def letter_scores(text):
    """The sentence about the well finds article d, all others a; the letter as a whole b."""
    if text == LETTER:
        return [0, 2, 1, 0]
    return [0, 0, 1, 4] if text == SENTENCES[1] else [2, 0, 1, 0]


def test_the_sentence_nearest_to_the_law_finds_most_for_a_long_question():
    encoder, words = Scores("encoder", letter_scores, kind=ZERO_SHOT), Scores("words", letter_scores)
    (ranked,) = ensemble(encoder, words).rank([LETTER], 1)
    assert ranked.rows.tolist() == [3]


def test_what_has_learnt_from_long_questions_reads_the_whole():
    votes = Scores("votes", letter_scores, learns=True)
    weights, structure = {"votes": 1.0}, Structure.of(ARTICLES)
    for wholes, best in ((False, 0), (True, 1)):  # the sentences weigh alike without an encoder; all but one find a
        ranker = Ensemble([votes], structure, FixedRanker(weights), weights=[1.0], depth=4, near=0, wholes=wholes)
        assert ranker.rank([LETTER], 1)[0].rows.tolist() == [best]
