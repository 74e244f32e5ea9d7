import re

import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.registry import SIGNALS
from statgraph.retrieval.signals.dense import KINDS
from statgraph.retrieval.signals.signal import TRAINED, AllScores, Asked, signal_info
from statgraph.service.config import LANGUAGES


def test_candidates_are_what_scores_above_zero():
    answer = AllScores(np.array([0.0, 2.0, 3.0, 2.0], dtype=np.float32))

    rows, scores = answer.best(10, None)
    assert (rows.tolist(), scores.tolist()) == ([2, 1, 3], [3.0, 2.0, 2.0])
    assert answer.best(1, AllowedRows.checked([0, 1, 3], 4))[0].tolist() == [1]
    assert answer.scores(np.array([0, 3])).tolist() == [0.0, 2.0]


def test_questions_are_encoded_once():
    class Encoder:
        calls = 0

        def encode(self, texts):
            self.calls += 1
            return np.ones((len(texts), 2), dtype=np.float32)

    asked, encoder = Asked(["Who?", "Why?"]), Encoder()

    assert asked.vectors(encoder).shape == asked.vectors(encoder).shape == (2, 2)
    assert encoder.calls == 1


def test_a_long_question_has_the_mean_of_its_sentences():
    class Encoder:
        def encode(self, texts):
            assert texts == ["Who?", "long text", "text"]
            return np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32)

    asked = Asked(["Who?", "a long text. text", "long text", "text"], {1: range(2, 4)})

    vectors = asked.vectors(Encoder())
    assert vectors[[0, 2, 3]].tolist() == [[0, 1], [1, 0], [0, 1]]
    assert vectors[1] == pytest.approx(np.array([9, 4]) / np.hypot(9, 4))


def test_an_encoder_reads_what_is_all_in_capitals_in_small_letters():
    class Encoder:
        def encode(self, texts):
            self.texts = texts
            return np.ones((len(texts), 2), dtype=np.float32)

    encoder = Encoder()
    Asked(["MAY HE KEEP MY DEPOSIT?", "TVA", "May HE keep it?", "ÉTÉ À LA PLAGE"]).vectors(encoder)
    assert encoder.texts == ["may he keep my deposit?", "TVA", "May HE keep it?", "été à la plage"]


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
    assert signal_info(object()).label("titles") == "titles"
