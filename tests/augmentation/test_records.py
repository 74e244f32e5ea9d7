import pytest

from statgraph.augmentation.records import SyntheticQuestion, questions_by_row

ROWS = {"a": 0, "b": 1, "c": 2}


def test_each_article_has_its_questions_in_order():
    questions = [SyntheticQuestion(*fields, "headings") for fields in (("x", ("b", "a")), ("y", ("b",)), ("z", ("a",)))]
    assert questions_by_row(questions, ROWS) == [["x", "z"], ["x", "y"], []]


def test_a_question_does_not_change():
    with pytest.raises(AttributeError):
        SyntheticQuestion("x", ("a",), "headings").text = "y"


def test_a_question_for_some_of_its_articles():
    question = SyntheticQuestion("x", ("b", "a", "c"), "headings")
    assert question.only({"a", "b"}) == SyntheticQuestion("x", ("b", "a"), "headings")
