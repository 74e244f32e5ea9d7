import pytest

from statgraph import artifacts
from statgraph.corpus.records import Question
from statgraph.errors import RunError
from statgraph.service.training_questions import TrainingQuestions


def test_questions_of_a_run_by_the_articles_they_cite(library, village_run, village):
    questions = TrainingQuestions.load(village_run, library.contents)
    assert questions.questions == village.questions
    assert [questions.cites(row) for row in range(2)] == [(0, 2), (3,)]
    assert [questions.citing(row) for row in range(5)] == [(0,), (), (0,), (1,), ()]


def test_articles_that_are_not_there_are_passed_over(library):
    questions = TrainingQuestions([Question("q", "?", "train", ("H9", "H1"))], library.contents)
    assert questions.cites(0) == (0,)


def test_a_run_that_keeps_none_has_none(library, tmp_path):
    assert TrainingQuestions.load(tmp_path, library.contents).questions == ()


def test_damage_is_told(library, tmp_path):
    (tmp_path / artifacts.RUN_GRAPH_INPUTS).mkdir()
    with pytest.raises(RunError, match="train the run again"):
        TrainingQuestions.load(tmp_path, library.contents)
