import numpy as np
import pytest

from statgraph.lexical.bm25 import BM25
from statgraph.lexical.term_statistics import TermStatistics

TEXTS = ["cat dog cat", "cat", "bird bird bird bird bird"]  # 3, 1 and 5 terms: 3 on average


@pytest.mark.parametrize(("k1", "b"), [(2.5, 0.2), (0.9, 1.0), (1.2, 0.0)])
def test_weights_are_those_of_the_index(k1, b):
    generator = np.random.default_rng(7)
    texts = [" ".join(generator.choice([*"abcdefgh"], size)) for size in generator.integers(1, 30, 40)]
    index = BM25(texts, language="xx", k1=k1, b=b)
    counted = TermStatistics(texts, language="xx", k1=k1, b=b)
    for question in ("a", "a b c a", "h g z"):
        expected = index.term_weights(question, range(40))
        for of_index, of_statistics in zip(expected, counted.term_weights(question, texts), strict=True):
            assert {part.term: part.weight for part in of_statistics} == pytest.approx(
                {part.term: part.weight for part in of_index}, rel=1e-5
            )
            assert [part.weight for part in of_statistics] == sorted(
                (part.weight for part in of_statistics), reverse=True
            )


def test_nothing_asked_nothing_held_and_no_texts():
    counted = TermStatistics([*TEXTS, ""], language="xx")
    assert counted.term_weights("", TEXTS) == [[], [], []]
    assert counted.term_weights("whale", TEXTS) == [[], [], []]
    assert counted.term_weights("cat", [""]) == [[]]
    assert counted.term_weights("cat", []) == []
    assert TermStatistics([], language="xx").term_weights("cat", []) == []
