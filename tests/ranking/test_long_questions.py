"""Long questions, read as a whole and by sentence."""

import numpy as np
import pytest

from statgraph.lexical.bm25 import BM25
from statgraph.ranking.long_questions import LongAnswer, answers_of, asked, telling_sentences
from statgraph.signals.signal import AllScores

SHORT = "Who returns the deposit?"
FILLERS = (
    "I am writing from a small town by the sea, where the weather has been dreadful since the spring.",
    "My sister thinks one thing, the choir another, and a neighbour told me something else again over coffee.",
    "We had guests at the weekend.",
    "Is that not strange?",
    "Many thanks in advance and kind regards from all of us.",
)
LETTER = " ".join([*FILLERS[:3], SHORT, *FILLERS[3:]])
LAW = ("The lessor returns the deposit.", "Rent is due each month.", "The tenant keeps the keys.")


@pytest.fixture(scope="module")
def bm25():
    return BM25(LAW, language="en", k1=1.2, b=0.75)


def test_what_asks_in_the_words_of_the_law_is_read(bm25):
    read = telling_sentences(LETTER, bm25)
    assert len(read) == 5
    assert SHORT in read
    assert read == sorted(read, key=LETTER.index)
    # Without a word of the law, a question mark alone tells.
    assert {SHORT, FILLERS[3]} <= set(telling_sentences(LETTER, None))


@pytest.mark.parametrize("question", [SHORT, "word " * 100, "", "Why? Why? Why? Why?"])
def test_a_short_question_or_one_of_few_sentences_is_read_whole(question, bm25):
    assert telling_sentences(question, bm25) == []


def test_each_question_is_followed_by_its_sentences(bm25):
    texts, counts = asked([SHORT, LETTER, SHORT], bm25)
    assert counts == [1, 6, 1]
    assert [texts.texts[place] for place in (0, 1, 7)] == [SHORT, LETTER, SHORT]
    assert texts.sentences == {1: range(2, 7)}
    whole, long, again = answers_of([AllScores(np.ones(3))] * 8, counts)
    assert [type(answer) for answer in (whole, long, again)] == [AllScores, LongAnswer, AllScores]


def answer(*scores, confidence=1.0):
    return AllScores(np.array(scores, dtype=np.float32), confidence)


def test_the_best_sentence_and_half_of_the_whole():
    long = LongAnswer(answer(4, 0, 2, 0, confidence=0.5), [answer(0, 10, 0, 0), answer(0, 0, 5, 0)])
    ranked = long.best(10, None)
    # Units from the best to the last proposed: the whole's 4 to 2, the sentences' 10 to 0. Article 0 has (0.5 * 1 + 0)
    # / 1.5 of a sentence's ten points, 1 has (0.5 * -1 + 1) / 1.5, 2 has (0.5 * 0 + 0.5) / 1.5: equal, so by row.
    assert ranked.rows.tolist() == [0, 1, 2]
    assert ranked.scores == pytest.approx([10 / 3] * 3)
    assert long.scores(np.array([1, 3])) == pytest.approx([10 / 3, -10 / 3])
    assert long.floor == pytest.approx(-10 / 3)
    assert long.confidence == 0.5


def test_what_nobody_proposes():
    long = LongAnswer(answer(0, 0), [answer(0, 0), answer(0, 0)])
    assert len(long.best(5, None).rows) == 0
    assert long.scores(np.array([0, 1])).tolist() == [0, 0]
    assert long.floor == 0


def test_an_answer_of_one_article():
    long = LongAnswer(answer(0, 3), [answer(0, 2), answer(0, 1)])
    ((row,), (score,)) = long.best(5, None)
    assert (row, score) == (1, 2)
