import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

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
from statgraph.retrieval.signals.signal import TRAINED, ZERO_SHOT, Proposal, QuestionBatch, SignalSource

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

    def propose(self, questions, k, allowed):
        rows = self.nearest[:k] if allowed is None else self.nearest[allowed.mask[self.nearest]][:k]
        return [Proposal(Ranked(rows, np.zeros(len(rows), dtype=np.float32)), None)] * len(questions.texts)


def saved_in(folder, articles=ARTICLES, members=None, **source):
    return MaxSimSignal.write(
        SignalSource(articles, "en", RunConfig(), members=[Member()] if members is None else members, **source), folder
    )


def test_an_update_reads_only_the_articles_whose_texts_are_new(tmp_path, monkeypatch):
    before, after, whole = ((tmp_path / name / "maxsim") for name in ("before", "after", "whole"))
    for folder in (before, after, whole):
        folder.mkdir(parents=True)
    assert saved_in(before)
    now = (ARTICLES[2], replace(ARTICLES[0], text="light rope"), ARTICLES[3])
    read, passage_tokens = [], Words.passage_tokens
    monkeypatch.setattr(Words, "passage_tokens", lambda self, texts: read.extend(texts) or passage_tokens(self, texts))
    assert saved_in(after, now, before=before.parent)
    assert read == ["lamp\nlight rope"]
    assert saved_in(whole, now)
    for name in ("tokens.npy", "places.npz"):
        assert (after / name).read_bytes() == (whole / name).read_bytes()


@pytest.fixture
def signal(tmp_path):
    assert saved_in(tmp_path)
    return MaxSimSignal.read(tmp_path, None, [Member()])


def proposal(signal, question, allowed=None, k=9):
    return signal.propose(QuestionBatch([question]), k, allowed)[0]


def cosine(one, other):
    return np.dot(WORDS[one], WORDS[other]) / np.linalg.norm(WORDS[one]) / np.linalg.norm(WORDS[other])


def test_each_word_of_the_question_counts_by_its_nearest_word(signal):
    well = proposal(signal, "light well")
    expected = [
        (cosine("light", "lamp") + cosine("well", "rope")) / 2,
        (cosine("light", "well") + 1) / 2,
        (1 + cosine("well", "rope")) / 2,
    ]
    assert well.candidates.rows.tolist() == [2, 0, 1]
    assert well.candidates.scores == pytest.approx([expected[row] for row in [2, 0, 1]], abs=0.01)  # of 8 bits
    assert well.scores(np.arange(3)) == pytest.approx(expected, abs=0.01)
    # What is not near has the lowest score of what is.
    assert well.scores(np.array([3])) == well.scores(np.arange(3)).min()
    assert proposal(signal, "light well", k=2).candidates.rows.tolist() == [2, 0]


def test_what_questions_have_in_common_is_taken_from_each_word(signal):
    signal.member.centre = Centre(token=np.array([0, 0.5, 0], dtype=np.float32))
    light = proposal(signal, "light")
    expected = [
        cosine("light", "lamp"),
        cosine("light", "rope") - 0.5 * np.sqrt(0.5),
        1 - 0.5 * cosine("well", "light"),
    ]
    assert light.candidates.rows.tolist() == [0, 2, 1]
    assert light.scores(np.arange(3)) == pytest.approx(expected, abs=0.01)


def test_of_a_filter_only_what_it_allows_is_compared(signal):
    some = proposal(signal, "light well", AllowedRows.of_mask(np.array([False, True, False, True])))
    assert some.candidates.rows.tolist() == [1]
    none = proposal(signal, "light well", AllowedRows.of_mask(np.array([False, False, False, True])))
    assert not len(none.candidates.rows)
    assert none.scores(np.array([0, 3])).tolist() == [0, 0]


def test_a_question_is_read_once_for_its_tokens_and_its_vector(signal):
    questions, encoder = QuestionBatch(["lamp well", "lamp", "well"], {0: range(1, 3)}), signal.member.encoder
    tokens = questions.tokens(encoder)
    assert [len(each) for each in tokens] == [2, 1, 1]  # the long one is not read as a whole
    questions.vectors(encoder)
    assert encoder.base.read == ["lamp", "well"]


def test_a_product_takes_one_thread_and_leaves_the_others_theirs(signal):
    blas, during = maxsim._BLAS, []  # numpy's

    class Watched(np.ndarray):
        def __matmul__(self, other):
            during.append({library["num_threads"] for library in blas.info()})
            return np.asarray(self) @ other

    question = np.array([WORDS["lamp"]], dtype=np.float32).view(Watched)
    with blas.limit(limits=3):
        signal.similarity(question, np.array([0, 1]))
        after = {library["num_threads"] for library in blas.info()}
    assert (during, after) == ([{1}], {3})


def test_one_product_at_a_time_limits_the_threads(signal, monkeypatch):
    limits, most = [], []

    @contextmanager
    def limit():
        limits.append(1)
        most.append(len(limits))
        time.sleep(0.02)  # until the other would come in
        yield
        limits.pop()

    monkeypatch.setattr(maxsim, "_BLAS", SimpleNamespace(limit=lambda limits: limit()))
    question = np.array([WORDS["lamp"]], dtype=np.float32)
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(signal.similarity, [question] * 2, [np.array([0, 1])] * 2))
    assert most == [1, 1]


def test_it_is_of_small_laws_with_an_untrained_transformer(tmp_path, monkeypatch):
    assert not saved_in(tmp_path, members=[])
    assert not saved_in(tmp_path, members=[Member(TRAINED)])
    static, learnt = Member(), Member(TRAINED)
    assert not saved_in(tmp_path, members=[Member(), learnt])  # which knows more
    static.encoder = learnt.encoder = Words()
    assert not saved_in(tmp_path, members=[static])
    assert saved_in(tmp_path, members=[Member(), learnt])
    monkeypatch.setattr(maxsim, "_MAX_ARTICLES", 3)
    assert not saved_in(tmp_path)
    assert saved_in(tmp_path, ARTICLES[:3])


def test_progress_is_by_articles(tmp_path, monkeypatch):
    monkeypatch.setattr(maxsim, "_AT_ONCE", 3)
    steps = []
    assert saved_in(tmp_path, progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(3, 4), (4, 4)]


@pytest.mark.parametrize("name", ["tokens.npy", "places.npz"])
@pytest.mark.parametrize("damage", ["missing", "no array", "another's"])
def test_damage_is_refused(tmp_path, name, damage):
    saved_in(tmp_path)
    if damage == "missing":
        (tmp_path / name).unlink()
    elif damage == "no array":
        (tmp_path / name).write_bytes(b"PK")
    else:
        (tmp_path / "other").mkdir()
        saved_in(tmp_path / "other", ARTICLES[:2])
        (tmp_path / "other" / name).replace(tmp_path / name)
    with pytest.raises(RunError, match="train the run again"):
        MaxSimSignal.read(tmp_path, None, [Member()])


def test_a_run_without_its_transformer_is_refused(tmp_path):
    saved_in(tmp_path)
    with pytest.raises(RunError, match="no untrained transformer"):
        MaxSimSignal.read(tmp_path, None, [Member(TRAINED)])
