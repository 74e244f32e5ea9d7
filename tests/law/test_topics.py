import numpy as np
import pytest

from statgraph.law.topics import nearness, topics

LAMPS = [f"Who pays for lamp {n} of the street?" for n in range(6)]
WELLS = [f"May I drink water from well {n}?" for n in range(6)]


def test_questions_in_the_same_words_are_on_one_topic():
    of_text = topics([*LAMPS, *WELLS])
    assert len(set(of_text[:6].tolist()) & set(of_text[6:].tolist())) == 0
    assert topics([*LAMPS, *WELLS]).tolist() == of_text.tolist()


@pytest.mark.parametrize("texts", [[], ["Who?"], ["Who?", "Who?"], ["Who?"] * 12, ["Who?", "When?"] * 12])
def test_few_texts_and_equal_ones_have_topics_too(texts):
    of_text = topics(texts)
    assert (len(of_text), of_text.dtype) == (len(texts), np.int64)


def test_the_nearest_other_text_says_how_near_a_text_is():
    same, alike, strange = nearness([LAMPS[0], LAMPS[5], "Wolves howl"], LAMPS[:5])
    assert same == pytest.approx(1, abs=1e-5)
    assert 0.5 < alike < 1
    assert strange < 0.2
    assert nearness(["Who?"], []).tolist() == [0]
    assert nearness([], LAMPS).tolist() == []
