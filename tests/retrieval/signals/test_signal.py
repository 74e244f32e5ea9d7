import re

import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.registry import SIGNALS
from statgraph.retrieval.signals.dense import KINDS
from statgraph.retrieval.signals.signal import TRAINED, Proposal, QuestionBatch, SignalInfo
from statgraph.service.config import LANGUAGES


def test_candidates_are_what_scores_above_zero():
    scores = np.array([0.0, 2.0, 3.0, 2.0], dtype=np.float32)
    proposal = Proposal.from_scores(scores, 10, None)
    rows, best = proposal.candidates
    assert (rows.tolist(), best.tolist()) == ([2, 1, 3], [3.0, 2.0, 2.0])
    assert proposal.scores(np.array([0, 3])).tolist() == [0.0, 2.0]
    few = Proposal.from_scores(scores, 1, AllowedRows.checked([0, 1, 3], 4))
    assert few.candidates.rows.tolist() == [1]


class Encoder:
    """Encodes texts as rows of a table, the last for what is not in it; notes what it has read."""

    def __init__(self, **vectors):
        self._vectors = vectors
        self.read = []

    def encode(self, texts):
        self.read += texts
        return np.array([self._vectors.get(text, [1, 1]) for text in texts], dtype=np.float32)


def test_questions_are_encoded_once():
    questions, encoder = QuestionBatch(["Who?", "Why?"]), Encoder()
    assert questions.vectors(encoder).shape == questions.vectors(encoder).shape == (2, 2)
    assert encoder.read == ["Who?", "Why?"]


def test_a_text_that_several_questions_hold_is_encoded_once():
    encoder = Encoder(**{"Who?": [1, 0], "Why?": [0, 1]})
    questions = QuestionBatch(["Who? Why?", "Who?", "Why?", "Why?"], {0: range(1, 3)})
    assert questions.vectors(encoder)[1:].tolist() == [[1, 0], [0, 1], [0, 1]]
    assert encoder.read == ["Who?", "Why?"]


def test_a_long_question_has_the_mean_of_its_sentences():
    encoder = Encoder(who=[0, 1], broken=[1, 0], lamp=[0, 1])
    questions = QuestionBatch(["who", "a broken lamp", "broken", "lamp"], {1: range(2, 4)})
    vectors = questions.vectors(encoder)
    assert vectors[[0, 2, 3]].tolist() == [[0, 1], [1, 0], [0, 1]]
    assert vectors[1] == pytest.approx(np.array([6, 4]) / np.hypot(6, 4))
    assert encoder.read == ["who", "broken", "lamp"]


def test_an_encoder_reads_what_is_all_in_capitals_in_small_letters():
    encoder = Encoder()
    QuestionBatch(["MAY HE KEEP MY DEPOSIT?", "TVA", "May HE keep it?", "ÉTÉ À LA PLAGE"]).vectors(encoder)
    assert encoder.read == ["may he keep my deposit?", "TVA", "May HE keep it?", "été à la plage"]


INFOS = {name: SIGNALS.load(name).info for name in SIGNALS.built_in} | KINDS


@pytest.mark.parametrize("name", INFOS)
def test_a_signal_has_its_words_in_every_language_of_the_page(name):
    words = INFOS[name].words
    assert sorted(words) == sorted(LANGUAGES)
    assert len(set(words.values())) == len(LANGUAGES)
    built = r"signa[lu]|señal|segnal|candidat|kandida|feature|ensemble|\btree|arbre|baum|árbol|albero|boom"
    assert not [text for text in words.values() if re.search(built, text.lower())]


def test_words_and_labels_name_the_signal():
    info = KINDS[TRAINED]
    assert info.words["fr"] == "Son sens"
    assert info.label("dsr@e5") == "its meaning, by dsr@e5"
    assert SignalInfo().label("titles") == "titles"
