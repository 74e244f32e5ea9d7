import numpy as np
import pytest

from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.law.records import Article, Question
from statgraph.retrieval.signals.signal import QuestionBatch, SignalSource
from statgraph.retrieval.signals.wording import WordingSignal
from statgraph.runs.run import CorpusFacts, RunFolder

ARTICLES = tuple(Article(f"A{row}", "", "", ("Code",), row) for row in range(4))
QUESTIONS = (
    Question("q1", "lamp lamp broken", "train", ("A0",)),
    Question("q2", "lamp stolen", "train", ("A0", "A2", "gone")),
    Question("q3", "well dry", "train", ("A1",)),
)


def write(folder, questions=QUESTIONS):
    return WordingSignal.write(SignalSource(ARTICLES, "xx", RunConfig(), questions), folder)


def read(folder):
    return WordingSignal.read(folder, RunFolder(folder, RunConfig(), CorpusFacts("town", "xx", 4, "0" * 64)))


def scores(folder, *texts):
    return [each.scores(np.arange(4)) for each in read(folder).propose(QuestionBatch(texts), 4, None)]


def test_words_are_regressed_on_articles(tmp_path):
    assert write(tmp_path)
    # "lamp" is in two of three questions, the other words in one each; "lamp lamp" counts 1 + ln 2.
    lamp, rare = np.log(3 / 2), np.log(3)
    first = np.array([(1 + np.log(2)) * lamp, rare, 0, 0, 0])
    second = np.array([lamp, 0, rare, 0, 0])
    third = np.array([0, 0, 0, rare, rare])
    x = np.array([vector / np.linalg.norm(vector) for vector in (first, second, third)])
    labels = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0]])
    weights = np.linalg.solve(x @ x.T + np.eye(3), labels)
    stolen, unknown = scores(tmp_path, "stolen", "green")
    assert stolen == pytest.approx(np.sqrt(np.maximum(x[:, 2] @ weights, 0)), abs=1e-5)
    assert np.argmax(stolen) == 2
    assert unknown.tolist() == [0, 0, 0, 0]


def test_without_questions_or_words_it_says_nothing(tmp_path):
    assert not write(tmp_path, ())
    assert not write(tmp_path, (Question("q1", "lamp", "train", ("gone",)), Question("q2", "?", "train", ("A1",)))[:1])


def test_of_many_questions_some_count(tmp_path, monkeypatch):
    monkeypatch.setattr("statgraph.retrieval.signals.wording._MAX_QUESTIONS", 2)
    assert write(tmp_path)
    well, stolen = scores(tmp_path, "well", "stolen")  # the first and the third
    assert np.argmax(well) == 1
    assert stolen.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("name", ["terms.json", "questions.npz", "weights.npz", "rows"])
def test_damage_is_refused(tmp_path, name):
    write(tmp_path)
    if name == "rows":
        with np.load(tmp_path / "weights.npz") as saved:
            arrays = dict(saved)
        np.savez(tmp_path / "weights.npz", **(arrays | {"rows": arrays["rows"] + 9}))
    else:
        (tmp_path / name).write_bytes(b"no array")
    with pytest.raises(RunError, match="articles that are not there" if name == "rows" else "not readable"):
        read(tmp_path)
