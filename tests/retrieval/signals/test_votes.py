import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.law.records import Article, Question
from statgraph.retrieval.signals.signal import TRAINED, ZERO_SHOT, QuestionBatch, SignalSource
from statgraph.retrieval.signals.votes import TEMPERATURE, VotesSignal

VECTORS = {"lamp?": [1.0, 0.0], "well?": [0.0, 1.0], "light?": [1.0, 0.0]}


class Member:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.encoder, self.width = self, 2

    def encode(self, texts):
        return np.array([VECTORS[text] for text in texts], dtype=np.float32)


ARTICLES = tuple(Article(f"A{row}", "", "", ("Code",), row) for row in range(3))
QUESTIONS = (Question("q1", "lamp?", "train", ("A0", "A2")), Question("q2", "well?", "train", ("A1", "gone")))
MEMBERS = (Member("plain", ZERO_SHOT), Member("learnt", TRAINED))


@pytest.fixture
def saved(tmp_path):
    source = SignalSource(ARTICLES, "en", RunConfig(), QUESTIONS, members=MEMBERS)
    assert VotesSignal.write(source, tmp_path)
    return tmp_path


def test_near_questions_vote_for_their_articles(saved):
    (proposal,) = VotesSignal.read(saved, None, MEMBERS).propose(QuestionBatch(["light?"]), 3, None)

    far = np.exp(-1 / TEMPERATURE) / (1 + np.exp(-1 / TEMPERATURE))  # a cosine of 0 beside one of 1
    assert proposal.scores(np.arange(3)) == pytest.approx(np.sqrt([1 - far, far, 1 - far]), rel=1e-3)


def test_nobody_votes_without_questions_or_vectors(tmp_path):
    assert not VotesSignal.write(SignalSource(ARTICLES, "en", RunConfig(), (), members=MEMBERS), tmp_path)
    assert not VotesSignal.write(SignalSource(ARTICLES, "en", RunConfig(), QUESTIONS), tmp_path)


def test_the_member_that_has_learnt_encodes_them(saved):
    with pytest.raises(RunError, match="learnt"):
        VotesSignal.read(saved, None, MEMBERS[:1])


@pytest.mark.parametrize(
    ("vectors", "problem"),
    [
        (None, "not readable"),
        (np.ones((2, 3)), "vectors of width 3, where member 'learnt' has 2; train the run again"),
        (np.full((2, 2), np.nan), "arrays of another kind"),
        (np.ones(2), "arrays of another kind"),
    ],
)
def test_damage_is_refused(saved, vectors, problem):
    (saved / "vectors.npy").write_bytes(b"no array")
    if vectors is not None:
        np.save(saved / "vectors.npy", vectors)
    with pytest.raises(RunError, match=problem):
        VotesSignal.read(saved, None, MEMBERS)
