import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.encoders.inference.query_encoder import HeadEncoder
from statgraph.errors import RunError
from statgraph.law.allowed_rows import AllowedRows
from statgraph.law.query import Ranked
from statgraph.law.records import Article
from statgraph.retrieval.signals import maxsim
from statgraph.retrieval.signals.centring import Centre
from statgraph.retrieval.signals.maxsim import MaxSimSignal
from statgraph.retrieval.signals.signal import TRAINED, ZERO_SHOT, Asked, SignalSource

WORDS = {"lamp": [3.0, 0.0, 0.0], "light": [0.9, 0.1, 0.0], "well": [0.0, 2.0, 0.0], "rope": [0.0, 0.5, 0.5]}
ARTICLES = tuple(
    Article(f"A{row}", "", text, ("Code", heading), row)
    for row, (heading, text) in enumerate(
        [("lamp", "rope"), ("well", "well rope"), ("rope", "light"), ("rope", "rope")]
    )
)


class Words:
    """A transformer whose vectors do not depend on the other words; notes what it has read."""

    def __init__(self):
        self.read = []

    def passage_tokens(self, texts):
        return [np.array([WORDS[word] for word in text.split()], dtype=np.float32) for text in texts]

    def encode_tokens(self, texts):
        self.read += texts
        tokens = self.passage_tokens(texts)
        return np.stack([vectors.mean(axis=0) for vectors in tokens]), tokens

    def encode(self, texts):
        raise AssertionError("read a second time")


class Member:
    def __init__(self, kind=ZERO_SHOT, nearest=(0, 1, 2)):
        self.kind = self.name = kind
        self.encoder, self.width = HeadEncoder(Words(), np.eye(3), np.zeros(3), unit_length=True), 3
        self.nearest, self.centre = np.array(nearest), Centre()

    def ask(self, asked):
        return [self] * len(asked.texts)

    def best(self, k, allowed):
        rows = [row for row in self.nearest if allowed is None or allowed.mask[row]]
        return Ranked(np.array(rows, dtype=np.int64)[:k], np.zeros(len(rows[:k]), dtype=np.float32))


def saved_in(folder, articles=ARTICLES, members=None, **source):
    return MaxSimSignal.write(
        SignalSource(articles, "en", RunConfig(), members=[Member()] if members is None else members, **source), folder
    )


@pytest.fixture
def signal(tmp_path):
    assert saved_in(tmp_path)
    return MaxSimSignal.read(tmp_path, None, [Member()])


def cosine(one, other):
    return np.dot(WORDS[one], WORDS[other]) / np.linalg.norm(WORDS[one]) / np.linalg.norm(WORDS[other])


def test_each_word_of_the_question_counts_by_its_nearest_word(signal):
    (answer,) = signal.ask(Asked(["light well"]))
    ranked = answer.best(9, None)
    expected = [
        (cosine("light", "lamp") + cosine("well", "rope")) / 2,
        (cosine("light", "well") + 1) / 2,
        (1 + cosine("well", "rope")) / 2,
    ]
    assert ranked.rows.tolist() == [2, 0, 1]
    assert ranked.scores == pytest.approx([expected[row] for row in ranked.rows], abs=0.01)  # of 8 bits
    assert answer.scores(np.arange(3)) == pytest.approx(expected, abs=0.01)


def test_what_questions_have_in_common_is_taken_from_each_word(signal):
    signal.member.centre = Centre(token=np.array([0, 0.5, 0], dtype=np.float32))
    (answer,) = signal.ask(Asked(["light"]))
    expected = [
        cosine("light", "lamp"),
        cosine("light", "rope") - 0.5 * np.sqrt(0.5),
        1 - 0.5 * cosine("well", "light"),
    ]
    assert answer.best(9, None).rows.tolist() == [0, 2, 1]
    assert answer.scores(np.arange(3)) == pytest.approx(expected, abs=0.01)


def test_what_is_not_near_has_the_lowest_score_of_what_is(signal):
    (answer,) = signal.ask(Asked(["light well"]))
    lowest = answer.best(2, None).scores.min()
    assert answer.scores(np.array([3])) == answer.scores(np.arange(3)).min() <= lowest


def test_of_a_filter_only_what_it_allows_is_compared(signal):
    (answer,) = signal.ask(Asked(["light well"]))
    assert answer.best(9, AllowedRows.of_mask(np.array([False, True, False, True]))).rows.tolist() == [1]
    assert not len(answer.best(9, AllowedRows.of_mask(np.array([False, False, False, True]))).rows)
    assert answer.scores(np.array([0, 3])).tolist() == [0, 0]


def test_a_question_is_read_once_for_its_tokens_and_its_vector(signal):
    asked, encoder = Asked(["lamp well", "lamp", "well"], {0: range(1, 3)}), signal.member.encoder
    tokens = asked.tokens(encoder)
    assert [len(each) for each in tokens] == [2, 1, 1]  # the long one is not read as a whole
    asked.vectors(encoder)
    assert encoder.base.read == ["lamp", "well"]


def test_it_is_of_small_laws_with_an_untrained_transformer(tmp_path, monkeypatch):
    assert not saved_in(tmp_path, members=[])
    assert not saved_in(tmp_path, members=[Member(TRAINED)])
    static, learnt = Member(), Member(TRAINED)
    assert not saved_in(tmp_path, members=[Member(), learnt])  # which knows more
    static.encoder = learnt.encoder = Words()
    assert not saved_in(tmp_path, members=[static])
    assert saved_in(tmp_path, members=[Member(), learnt])
    monkeypatch.setattr(maxsim, "_MOST_ARTICLES", 3)
    assert not saved_in(tmp_path)
    assert saved_in(tmp_path, ARTICLES[:3])


def test_progress_is_by_articles(tmp_path, monkeypatch):
    monkeypatch.setattr(maxsim, "_AT_ONCE", 3)
    steps = []
    assert saved_in(tmp_path, progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(3, 4), (4, 4)]


def test_a_fold_takes_the_tokens_of_the_whole(tmp_path, monkeypatch):
    whole, fold = tmp_path / "whole" / "maxsim", tmp_path / "fold"
    whole.mkdir(parents=True)
    saved_in(whole)
    monkeypatch.setattr(Words, "passage_tokens", lambda self, texts: pytest.fail("read again"))
    assert saved_in(fold, reuse_from=whole.parent)
    assert MaxSimSignal.read(fold, None, [Member()]).n_articles == 4


@pytest.mark.parametrize("name", ["tokens.npy", "places.npz"])
@pytest.mark.parametrize("damage", ["missing", "no array", "another's"])
def test_damage_is_refused(tmp_path, name, damage):
    saved_in(tmp_path)
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).unlink()
    if damage == "no array":
        (tmp_path / name).write_bytes(content[: len(content) // 2])
    if damage == "another's":
        (tmp_path / "other").mkdir()
        saved_in(tmp_path / "other", ARTICLES[:2])
        (tmp_path / name).write_bytes((tmp_path / "other" / name).read_bytes())
    with pytest.raises(RunError, match="train the run again"):
        MaxSimSignal.read(tmp_path, None, [Member()])


def test_a_run_without_its_transformer_is_refused(tmp_path):
    saved_in(tmp_path)
    with pytest.raises(RunError, match="no untrained transformer"):
        MaxSimSignal.read(tmp_path, None, [Member(TRAINED)])
