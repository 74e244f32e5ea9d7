"""Long questions, read by sentence and as a whole."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.ranking.long_questions import is_long, long_proposal, question_batch
from statgraph.retrieval.signals.signal import Proposal

SHORT = "Who returns the deposit?"
FILLERS = (
    "I am writing from a small town by the sea, where the weather has been dreadful since the spring.",
    "My sister thinks one thing, the choir another, and a neighbour told me something else again over coffee.",
    "We had guests at the weekend.",
    "Is that not strange?",
    "Many thanks in advance and kind regards from all of us.",
    "Nothing much has happened since the weekend, except that it has rained.",
    "I am fifty-three years old.",
    "The dog is well.",
    "And so on.",
)
LETTER = " ".join([*FILLERS[:3], SHORT, *FILLERS[3:]])
LAW = ("The lessor returns the deposit.", "Rent is due each month.", "The tenant keeps the keys.")


@pytest.fixture(scope="module")
def bm25():
    return BM25(LAW, language="en", k1=1.2, b=0.75)


def test_what_asks_in_the_words_of_the_law_is_read(bm25):
    batch, (parts,) = question_batch([LETTER], bm25)
    read = [batch.texts[place] for place in parts.sentences]
    assert len(read) == 8
    assert SHORT in read
    assert read == sorted(read, key=LETTER.index)
    assert [text for text, asks in zip(read, parts.asks, strict=True) if asks] == [SHORT, FILLERS[3]]
    assert read[int(np.argmax(parts.weights(None)))] == SHORT
    # Without a word of the law, a question mark alone tells.
    batch, (parts,) = question_batch([LETTER], None)
    assert {SHORT, FILLERS[3]} <= {batch.texts[place] for place in parts.sentences}


def test_signals_read_a_corrected_question():
    words = SimpleNamespace(corrected=lambda text: text.replace("depsoit", "deposit"))
    batch, _ = question_batch(["Whose is the depsoit?", "Whose is the key?"], words)
    assert batch.texts == ["Whose is the deposit?", "Whose is the key?"]


def test_a_question_mark_is_worth_two_and_a_half_deviations():
    # Of twelve sentences nine are stronger, by 2.3 deviations, than the other three: (1 - 0) / sqrt(0.75 * 0.25).
    weak = ["The first is weak.", "The second is weak too.", "Is this weak?"]
    strong = [f"Sentence number {place} tells something." for place in range(9)]
    words = SimpleNamespace(corrected=str, scores=lambda text: np.array([math.sqrt(len(text)) * (text in strong)]))
    batch, (parts,) = question_batch([" ".join([*weak, *strong])], words)
    read = [batch.texts[place] for place in parts.sentences]
    assert read[0] == weak[2]
    assert set(read[1:]) < set(strong)


@pytest.mark.parametrize("question", [SHORT, "word " * 59, "", "Why? Why? Why? Why?"])
def test_a_short_question_or_one_of_few_sentences_is_read_whole(question, bm25):
    batch, (parts,) = question_batch([question], bm25)
    assert (batch.texts, len(parts.sentences), is_long(question)) == ([question], 0, False)


def test_each_question_is_followed_by_its_sentences(bm25):
    batch, all_parts = question_batch([SHORT, LETTER, SHORT], bm25)
    assert [parts.whole for parts in all_parts] == [0, 1, 10]
    assert [batch.texts[parts.whole] for parts in all_parts] == [SHORT, LETTER, SHORT]
    assert all_parts[1].sentences == range(2, 10)
    assert is_long(LETTER)
    assert batch.sentences == {1: range(2, 10)}
    assert question_batch([SHORT, LETTER], bm25, wholes=True)[0].sentences == {}
    assert question_batch([SHORT, LETTER], bm25, by_sentence=False)[0].texts == [SHORT, LETTER]


def test_the_sentence_nearest_to_the_law_weighs_most():
    _, (parts,) = question_batch([LETTER], None)
    best_scores = np.array([0.8, 0.9, *[0.8] * 6])
    exponents = ((best_scores - best_scores.mean()) / best_scores.std()) ** 3 * 0.6 + 0.5 * parts.asks
    expected = np.exp(exponents) / np.exp(exponents).sum()
    assert parts.weights(best_scores) == pytest.approx(expected)
    assert expected[1] > 0.99  # it alone stands out
    assert parts.weights(np.linspace(0.8, 0.9, 8)).max() < 0.6  # none does
    # Of equal sentences those weigh more that ask: e^0.5 to 1.
    weights = parts.weights(np.full(8, 0.8))
    assert weights[parts.asks][0] / weights[~parts.asks][0] == pytest.approx(math.exp(0.5))


def proposal(*scores, confidence=1.0):
    return Proposal.from_scores(np.array(scores, dtype=np.float32), 10, None, confidence=confidence)


def test_sentences_by_weight_the_best_and_some_of_the_whole():
    sentences = [proposal(0, 10, 0, 0, confidence=0.5), proposal(0, 0, 5, 0)]
    long = long_proposal(proposal(4, 0, 2, 0), sentences, np.array([0.75, 0.25]), k=10, scale_depth=2)
    # 0 is the second of each: 2 of the whole, 5 of the best, and the floor of a sentence, which proposes one article.
    # The whole counts 0.5 * (1 - 0.75). Article 0: 0.125 * 1 + 0.5 * (0 - 5) / 5; 1: 0.125 * -1 + 0.5 * 1 + 0.75; 2:
    # 0.125 * 0 + 0.5 * 0 + 0.25.
    assert long.candidates.rows.tolist() == [1, 2, 0]
    assert long.candidates.scores == pytest.approx([1.125, 0.25, -0.375])
    assert long.scores(np.array([0, 3])) == pytest.approx([-0.375, -0.125 - 0.5])
    assert long.floor == pytest.approx(-0.625)
    assert long.own_scores(np.arange(4)).tolist() == [4, 10, 5, 0]  # the best of the whole and the sentences
    assert sentences[0].own_scores(np.arange(4)).tolist() == [0, 10, 0, 0]
    assert long.confidence == 1  # as sure as of the sentence that it is surest of


def test_what_nobody_proposes():
    nothing = proposal(0, 0)
    long = long_proposal(nothing, [nothing, nothing], np.array([0.5, 0.5]), k=5, scale_depth=2)
    assert len(long.candidates.rows) == 0
    assert long.scores(np.array([0, 1])).tolist() == [0, 0]
    assert long.floor == 0
