import dataclasses

import numpy as np
import pytest

from statgraph.negatives.source import EpochVectors


def test_vectors_are_held_as_given_and_cannot_be_exchanged():
    questions, articles = np.zeros((2, 3), dtype=np.float32), np.ones((4, 3), dtype=np.float32)
    vectors = EpochVectors(questions, articles)
    assert vectors.questions is questions
    assert vectors.articles is articles
    with pytest.raises(dataclasses.FrozenInstanceError):
        vectors.questions = articles
