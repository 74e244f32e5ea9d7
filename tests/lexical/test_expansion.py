import numpy as np
import pytest

from statgraph.lexical.bm25 import BM25
from statgraph.lexical.expansion import expanded_texts

TEXTS = ["the lamp is lit", "the well is deep"]


def test_the_first_questions_stand_behind_a_text():
    questions = [["who lights", "when", "where"], []]
    assert expanded_texts(TEXTS, questions, most=2) == ["the lamp is lit\nwho lights\nwhen", "the well is deep"]
    assert expanded_texts(TEXTS, questions, most=0) == TEXTS


def test_every_text_needs_its_list():
    with pytest.raises(ValueError, match="shorter"):
        expanded_texts(TEXTS, [[]], most=1)


def test_an_article_is_found_by_what_only_its_question_says():
    plain = BM25(TEXTS, language="en")
    expanded = BM25(expanded_texts(TEXTS, [[], ["who draws water"]], most=1), language="en")
    np.testing.assert_array_equal(plain.scores("water"), [0, 0])
    assert expanded.ranking("water", 2)[0].tolist() == [1, 0]
