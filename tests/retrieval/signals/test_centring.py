import re

import numpy as np
import pytest

from statgraph.encoders.inference.query_encoder import HeadEncoder
from statgraph.errors import RunError
from statgraph.retrieval.signals import centring
from statgraph.retrieval.signals.centring import CENTRES, read_centre, write_centres


class Base:
    """Reads a text as one token, twice as long as its vector."""

    def __init__(self, vectors):
        self._vectors = vectors

    def encode(self, texts):
        return np.array([self._vectors.get(text, [1.0, 0.0]) for text in texts], dtype=np.float32)

    def encode_tokens(self, texts):
        return self.encode(texts), [2 * vector[None] for vector in self.encode(texts)]


class Member:
    name = "zero-shot@e5"

    def __init__(self, **vectors):
        self.encoder = HeadEncoder(Base(vectors), np.eye(2), np.zeros(2), unit_length=False)


@pytest.mark.parametrize("at_once", [100, 1000])
def test_the_mean_is_of_everyday_and_of_the_training_questions(tmp_path, monkeypatch, at_once):
    monkeypatch.setattr(centring, "_AT_ONCE", at_once)
    write_centres([Member(why=[0.0, 1.0])], ["why"] * 168, 0.5, tmp_path, tokens=True)
    centre = read_centre(tmp_path, "zero-shot@e5", 2)
    assert centre.question == pytest.approx([0.25, 0.25])  # 24 everyday questions in 7 languages
    assert centre.token == pytest.approx([0.25, 0.25])  # of tokens of length 1


def test_without_tokens_or_of_another_member_nothing_is_taken(tmp_path):
    assert read_centre(tmp_path, "zero-shot@e5", 2).question == 0
    write_centres([Member()], [], 1.0, tmp_path, tokens=False)
    assert read_centre(tmp_path, "zero-shot@e5", 2).question.tolist() == [1, 0]
    assert read_centre(tmp_path, "zero-shot@e5", 2).token == 0
    assert read_centre(tmp_path, "heads@e5", 2).question == 0


@pytest.mark.parametrize("damage", [b"", b"PK", [np.nan, 0], [1, 0, 0]])
def test_a_damaged_file_is_named(tmp_path, damage):
    if isinstance(damage, bytes):
        (tmp_path / CENTRES).write_bytes(damage)
    else:
        np.savez(tmp_path / CENTRES, **{"zero-shot@e5 question": np.array(damage)})
    with pytest.raises(RunError, match=re.escape(str(tmp_path / CENTRES)) + ".*train the run again"):
        read_centre(tmp_path, "zero-shot@e5", 2)
