import numpy as np
import pytest

from statgraph import artifacts
from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.law.records import Article, CitingText, Question
from statgraph.retrieval.lexical.bm25 import BM25
from statgraph.retrieval.signals.lexical import CitingSignal, TextSignal
from statgraph.retrieval.signals.signal import TRAINED, ZERO_SHOT, QuestionBatch, SignalSource
from statgraph.runs.run import CorpusFacts, RunFolder
from statgraph.systems.presets import resolve_config

ARTICLES = (
    Article("a", "Art. 1", "Lamps burn by night.", ("Code", "Streets"), 0),
    Article("b", "Art. 2", "Wells have lids.", ("Code", "Water"), 1),
)
CITING_TEXTS = (CitingText("c", "Guide", "Who lights the road?", ("a", "gone")),)


class Member:
    def __init__(self, kind):
        self.kind = kind


def written(kind, folder, **source):
    folder.mkdir()
    return kind.write(SignalSource(ARTICLES, "en", RunConfig(), **source), folder)


def read(kind, folder):
    return kind.read(folder, RunFolder(folder.parent, RunConfig(), CorpusFacts("town", "en", "0")))


def proposals(signal, *questions):
    return signal.propose(QuestionBatch(questions), 9, None)


def rows(signal, question):
    """Return the rows of the articles that are candidates for a question."""
    return sorted(proposals(signal, question)[0].candidates.rows)


@pytest.mark.parametrize(
    ("kind", "question", "elsewhere"),
    [(TextSignal, "lamp", "road"), (CitingSignal, "road", "lamp")],
)
def test_each_signal_has_its_own_text(tmp_path, kind, question, elsewhere):
    assert written(kind, tmp_path / "signal", citing=CITING_TEXTS)
    assert rows(read(kind, tmp_path / "signal"), question) == [0]
    assert rows(read(kind, tmp_path / "signal"), elsewhere) == []


def test_nothing_to_index_is_no_signal(tmp_path):
    assert not written(CitingSignal, tmp_path / "none")


def test_a_question_in_other_words_counts_less():
    bm25 = BM25(["lamp", "well"], language="en")
    # A term in one of two texts: ln(1 + 1.5 / 1.5); in neither: ln(1 + 2.5 / 0.5).
    assert bm25.reachable("lamp road street") == pytest.approx(np.log(2) + 2 * np.log(6))
    share = bm25.scores("lamp").max() / (np.log(2) + 2 * np.log(6))
    for doubt, question, confidence in (
        (0.0, "lamp road street", 1.0),
        (1.0, "lamp road street", share / 0.4),
        (0.5, "road", 0.5),
        (1.0, "?", 1.0),  # no word to doubt
    ):
        (proposal,) = proposals(TextSignal(bm25, doubt), question)
        assert proposal.confidence == pytest.approx(confidence)
    assert BM25([], language="en").reachable("lamp") == 0


def test_citing_texts_count_by_how_much_of_a_question_they_hold(tmp_path):
    written(CitingSignal, tmp_path / "citing", citing=CITING_TEXTS, questions=(Question("q", "?", "train", ("a",)),))
    signal = read(CitingSignal, tmp_path / "citing")
    own, other = proposals(signal, "who lights the road", "road to another town")
    assert own.confidence > other.confidence > 0
    reached = signal.bm25.scores("road to another town").max() / signal.bm25.reachable("road to another town")
    assert other.confidence == pytest.approx(reached / 0.6)


@pytest.mark.parametrize(("language", "candidates"), [("de", [0, 2]), ("fr", [2])])
def test_an_ensembles_signals_read_compounds_where_a_language_has_them(tmp_path, language, candidates):
    config = resolve_config("ensemble")
    articles = [
        Article(str(row), "", ".", ("Code", words), row)
        for row, words in enumerate(("Kündigungsfrist", "Kündigung", "Frist"))
    ]
    (tmp_path / "bm25").mkdir()
    TextSignal.write(SignalSource(articles, language, config), tmp_path / "bm25")
    signal = TextSignal.read(tmp_path / "bm25", RunFolder(tmp_path, config, CorpusFacts("town", language, "0")))
    assert rows(signal, "Frist") == candidates


def test_questions_take_the_doubt_away(tmp_path):
    twenty = tuple(Question(f"q{number}", "?", "train", ("a",)) for number in range(20))
    for name, members, questions, doubt in (
        ("none", (Member(ZERO_SHOT),), (), 1.0),
        ("some", (Member(ZERO_SHOT),), twenty, 0.5),
        ("trained", (Member(TRAINED),), (), 0.0),
    ):
        written(TextSignal, tmp_path / name, members=members, questions=questions)
        assert proposals(read(TextSignal, tmp_path / name), "road")[0].confidence == 1 - doubt
    artifacts.write_json(tmp_path / "some" / "doubt.json", [])
    with pytest.raises(RunError, match="doubt"):
        read(TextSignal, tmp_path / "some")
