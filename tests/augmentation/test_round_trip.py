import numpy as np

from statgraph.augmentation import round_trip
from statgraph.augmentation.records import SyntheticQuestion
from statgraph.augmentation.round_trip import kept_by_round_trip

ROWS = {"a": 0, "b": 1, "c": 2}
RANKINGS = {"x": [0, 1, 2], "y": [2, 1, 0], "z": [1, 0, 2]}
QUESTIONS = [SyntheticQuestion(*fields, "headings") for fields in (("x", ("a",)), ("y", ("a", "b")), ("z", ("c",)))]


def rank(texts, k):
    return [np.array(RANKINGS[text][:k]) for text in texts]


def kept(k, progress=lambda *step: None):
    return [
        question.text for question in kept_by_round_trip(QUESTIONS, rank, k=k, article_rows=ROWS, progress=progress)
    ]


def test_a_question_that_finds_one_of_its_articles_is_kept():
    assert kept(1) == ["x"]
    assert kept(2) == ["x", "y"]
    assert kept(3) == ["x", "y", "z"]


def test_batches_make_no_difference(monkeypatch):
    monkeypatch.setattr(round_trip, "QUESTIONS_PER_BATCH", 2)
    heard = []
    assert kept(2, lambda *step: heard.append(step)) == ["x", "y"]
    assert heard == [("round trip", 0, 3), ("round trip", 2, 3), ("round trip", 3, 3)]
