import numpy as np
import pytest

from statgraph.law.allowed_rows import AllowedRows
from statgraph.retrieval.index.article_index import ArticleIndex
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.dense import DenseSignal
from statgraph.retrieval.signals.signal import ZERO_SHOT, Asked


class Axes:
    """Encodes a number as the unit vector of that axis."""

    def encode(self, texts):
        return np.eye(64, dtype=np.float32)[[int(text) for text in texts]]


@pytest.fixture
def searches(monkeypatch):
    """Return how many queries each search of the index was for."""
    counts, search = [], ArticleIndex.search
    monkeypatch.setattr(
        ArticleIndex,
        "search",
        lambda self, queries, *limits: counts.append(len(queries)) or search(self, queries, *limits),
    )
    return counts


@pytest.fixture
def signal():
    index = ArticleIndex.build(np.eye(64, dtype=np.float32), [str(row) for row in range(64)], device="cpu")
    return DenseSignal("axes", ZERO_SHOT, index, Axes())


def test_texts_of_a_search_are_searched_for_together(signal, searches):
    answers = signal.ask(Asked([str(number) for number in range(40)]))
    assert not searches
    assert [int(answer.best(1, None).rows[0]) for answer in answers] == list(range(40))
    assert searches == [16, 16, 8]
    assert int(answers[3].best(1, None).rows[0]) == 3
    assert len(searches) == 3


def test_other_limits_are_another_search(signal, searches):
    first, second = signal.ask(Asked(["5", "6"]))
    assert len(first.best(1, None).rows) == len(second.best(1, None).rows) == 1
    assert len(second.best(2, None).rows) == 2
    but_six = AllowedRows.checked([row for row in range(64) if row != 6], 64)
    assert 6 not in second.best(2, but_six).rows
    assert second.scores(np.array([6, 7])).tolist() == [1, 0]
    assert searches == [2, 1, 1]


def test_what_questions_have_in_common_is_taken_from_each(signal):
    common = np.zeros(64, dtype=np.float32)
    common[[5, 7]] = 2.0, 0.5
    centred = DenseSignal("axes", ZERO_SHOT, signal._index, signal.encoder, Centre(question=common))
    five, seven = centred.ask(Asked(["5", "7"]))
    assert five.scores(np.array([5, 6, 7])).tolist() == [-1, 0, -0.5]
    assert int(five.best(1, None).rows[0]) not in (5, 7)
    assert int(seven.best(1, None).rows[0]) == 7
