import pytest
from click.testing import CliRunner

from tools import learning_curve
from tools.learning_curve import with_questions


def test_more_questions_include_fewer_and_a_fifth_is_dev(town_corpus):
    few, more = (with_questions(town_corpus, count) for count in (5, 10))
    ids = [{each.question_id for each in corpus.questions if each.split != "test"} for corpus in (few, more)]
    assert ids[0] < ids[1] <= {each.question_id for each in town_corpus.split("train")}
    assert len(few.split("train")) == 4
    assert len(few.split("dev")) == 1
    assert [each.question_id for each in few.split("test")] == [each.question_id for each in town_corpus.split("dev")]


def test_without_questions_to_learn_from_those_of_dev_measure(town_corpus):
    corpus = with_questions(town_corpus, 0)
    assert {each.split for each in corpus.questions} == {"test"}


@pytest.mark.real
def test_the_curve_has_a_row_for_each_number(town):
    done = CliRunner().invoke(learning_curve.main, [str(town), "--fast", "--count", "5"])
    assert done.exit_code == 0, done.output
    assert [line.split(" | ")[0] for line in done.output.splitlines()[2:]] == ["| 5"]
