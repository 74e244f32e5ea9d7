from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.records import Article
from statgraph.law.structure import Structure
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.ranking.ensemble import Ensemble
from statgraph.retrieval.ranking.weighted_sum import WeightedSum, prior
from statgraph.retrieval.signals.citation import CitationSignal
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


AROUND = {"section": 0.3, "cited_by": 0.1, "cites": 0.1}


def ensemble(*signals, near=0, **how):
    ranker = WeightedSum({signal.name: 1.0 for signal in signals}, AROUND)
    return Ensemble(signals, Structure.of(ARTICLES), ranker, near=near, **how)


def test_the_score_is_the_weighted_sum_and_the_surroundings():
    words, votes = Scores("words", [4, 0, 0, 2]), Scores("votes", [0, 0, 1, 0])

    # Scaled: words by the 2nd best (half of four articles), 2 to 4: a 1, d 0; votes: c 1. Their sums: a 1, c 1, d 0.
    (candidates,) = ensemble(words, votes).candidates(["?"])
    assert candidates.rows.tolist() == [0, 2, 3]
    totals = ensemble(words, votes).ranker.totals(candidates)
    assert totals.tolist() == [1, 1, 0]
    section, cited_by, cites = candidates.around(totals)
    assert section.tolist() == [1, 1, 1]  # d by c, which stands with it under Wells
    assert cited_by.tolist() == [0, 1, 0]  # a cites c
    assert cites.tolist() == [1, 0, 0]
    ((rows, scores),) = ensemble(words, votes).rank(["?"], 2)
    assert sorted(rows.tolist()) == [0, 2]
    assert scores == pytest.approx([1 + 0.3 + 0.1] * 2)


def test_what_stands_near_the_best_is_a_candidate():
    words = Scores("words", [4, 0, 0, 0])

    (candidates,) = ensemble(words, near=1).candidates(["?"])
    assert candidates.rows.tolist() == [0, 1, 2]  # b under the same heading, c cited; d is neither
    (candidates,) = ensemble(words, near=1).candidates(["?"], allowed=AllowedRows.checked([0, 2], 4))
    assert candidates.rows.tolist() == [0, 2]


def test_signals_propose_200_articles_or_as_many_as_are_asked_for():
    asked = []

    class Asked(Scores):
        def propose(self, questions, k, allowed):
            asked.append(k)
            return super().propose(questions, k, allowed)

    ranking = ensemble(Asked("words", [4, 0, 0, 0]))
    ranking.rank(["?"], 10)
    ranking.rank(["?"], 300)
    assert asked == [200, 300]


def test_nothing_is_found_where_no_signal_has_a_candidate():
    ((rows, scores),) = ensemble(Scores("words", [0, 0, 0, 0])).rank(["?"], 3)
    assert (len(rows), len(scores)) == (0, 0)


def test_what_learns_from_questions_counts_by_their_number():
    words, trained, zero_shot = (
        SimpleNamespace(name=name, info=info)
        for name, info in {"words": TextSignal.info, "t": KINDS[TRAINED], "z": KINDS[ZERO_SHOT]}.items()
    )

    def weights(signals, n_questions):
        return pytest.approx(list(prior(signals, n_questions).signals.values()))

    assert weights([words, trained], 0) == [1, 0]
    assert weights([words, trained], 100) == [2 / 3, 1 / 3]
    assert weights([words, trained, zero_shot], 300) == [1 / 2.75, 0.75 / 2.75, 1 / 2.75]
    assert weights([Scores("plugin", []), words], 300) == [0.3 / 1.3, 1 / 1.3]  # unless its class says more
    named = SimpleNamespace(name="citation", info=CitationSignal.info)
    assert weights([named, words, zero_shot], 0) == [2, 0.5, 0.5]  # above all others together


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


def test_all_signals_and_the_reader_read_the_corrected_question():
    bm25, read = BM25([article.text for article in ARTICLES], language="en"), []
    bm25.reader = SimpleNamespace(corrected=lambda text: text.replace("lihgt", "light"), added=lambda text: [])
    of_all = ensemble(TextSignal(bm25), Scores("votes", lambda text: read.append(text) or [1, 0, 0, 0]))
    of_all.reader = SimpleNamespace(amounts=lambda text, rows, scores: read.append(text) or np.zeros_like(scores))
    of_all.rank(["Whose lihgt?"], 1)
    assert read == ["Whose light?", "Whose light?"]


def test_what_has_learnt_from_long_questions_reads_the_whole():
    votes = Scores("votes", letter_scores, learns=True)
    for wholes, best in ((False, 0), (True, 1)):  # the sentences weigh alike without an encoder; all but one find a
        assert ensemble(votes, wholes=wholes).rank([LETTER], 1)[0].rows.tolist() == [best]
