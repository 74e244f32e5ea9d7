"""Marks into labels, by hand: contradictions, questions that are known, questions that must not be trained on."""

import json

import pytest

from statgraph.errors import CorpusError
from statgraph.law.feedback import FeedbackSummary, Mark, read_marks, with_feedback
from statgraph.law.records import Article, Corpus, Question

ARTICLES = tuple(Article(f"A{n}", f"Art. {n}", f"Text {n}.", ("Code",), n) for n in (1, 2, 3))
QUESTIONS = (
    Question("q1", "Who pays?", "train", ("A2",), {"topic": "money"}),
    Question("q2", "When?", "test", ("A1",)),
)


@pytest.fixture
def corpus():
    return Corpus("c", "en", "CC0", "tests", ARTICLES, QUESTIONS)


@pytest.fixture
def marks_file(tmp_path):
    """Return a function that writes marks, as objects or as raw lines, and returns their file."""

    def write(*lines):
        path = tmp_path / "feedback.jsonl"
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return write


def test_a_new_question_goes_to_train_with_its_articles_in_order(corpus):
    after, summary = with_feedback(corpus, [Mark("Why  so?", "A3", True), Mark("why so?", "A1", True)])
    assert after.questions[:2] == QUESTIONS
    (new,) = after.questions[2:]
    assert (new.text, new.split, new.article_ids) == ("Why so?", "train", ("A1", "A3"))
    assert new.question_id.startswith("feedback-")
    assert len(new.question_id) == len("feedback-") + 12
    assert summary == FeedbackSummary(2, overruled=0, taken_back=0, wrong=0, known=0, held_out=0, labels=2, questions=1)
    assert after.articles is corpus.articles


def test_a_known_training_question_gets_labels_and_loses_none(corpus):
    marks = [Mark("WHO PAYS?", "A1", True), Mark("Who pays?", "A2", False)]
    after, summary = with_feedback(corpus, marks)
    assert [question.article_ids for question in after.questions] == [("A2", "A1"), ("A1",)]
    assert after.questions[0].metadata == {"topic": "money"}
    assert (summary.labels, summary.questions, summary.wrong) == (1, 0, 1)


@pytest.mark.parametrize("splits", [("train", "dev"), ("test", "train")])
def test_a_question_that_is_held_out_too_gets_no_label(splits):
    twice = tuple(Question(f"q{n}", "Who pays?", split, ("A2",)) for n, split in enumerate(splits))
    after, summary = with_feedback(Corpus("c", "en", "CC0", "tests", ARTICLES, twice), [Mark("who pays?", "A1", True)])
    assert (after.questions, summary.held_out, summary.labels) == (twice, 1, 0)


def test_a_label_comes_once_where_two_questions_are_equal():
    twice = (Question("q1", "Who pays?", "train", ("A1",)), Question("q2", "Who pays?", "train", ("A2",)))
    after, _ = with_feedback(Corpus("c", "en", "CC0", "tests", ARTICLES, twice), [Mark("who pays?", "A1", True)])
    assert [question.article_ids for question in after.questions] == [("A1",), ("A2", "A1")]


def test_marks_on_another_law_of_the_service_are_left_out(corpus, marks_file):
    lines = [
        {"question": "Why?", "article_id": article, "right": True, **law}
        for article, law in (("A1", {}), ("A3", {"law": "c"}), ("B7", {"law": "other"}))
    ]
    marks = read_marks(marks_file(*lines), corpus.article_rows, "c")
    after, summary = with_feedback(corpus, marks)
    assert after.questions[-1].article_ids == ("A1", "A3")
    assert (summary.labels, summary.left_out["on other laws"]) == (2, 1)


YES, NO, BACK = (Mark("Why?", "A1", right) for right in (True, False, None))


@pytest.mark.parametrize(
    ("marks", "n_new", "counted"),
    [
        ([YES, NO], 0, {"overruled": 1, "wrong": 1}),  # the latest counts
        ([NO, YES], 1, {"overruled": 1, "labels": 1, "questions": 1}),
        ([YES, BACK], 0, {"overruled": 1, "taken_back": 1}),
        ([Mark("when?", "A3", True)], 0, {"held_out": 1}),  # a question of test
        ([Mark("Who pays?", "A2", True)], 0, {"known": 1}),
    ],
)
def test_what_becomes_of_marks(corpus, marks, n_new, counted):
    after, summary = with_feedback(corpus, marks)
    assert (after.questions[:2], len(after.questions)) == (QUESTIONS, 2 + n_new)
    none = dict.fromkeys(("overruled", "taken_back", "wrong", "known", "held_out", "labels", "questions"), 0)
    assert summary == FeedbackSummary(len(marks), **none | counted)


def test_labels_are_of_the_main_set_and_no_set_s_test_question_gets_any(corpus):
    titles = (
        Question("t1", "Money", "train", ("A1",), {"set": "titles"}),
        Question("t2", "Time", "test", ("A1",), {"set": "titles"}),
    )
    corpus = Corpus("c", "en", "CC0", "tests", ARTICLES, (*QUESTIONS, *titles))
    after, summary = with_feedback(corpus, [Mark("Money", "A2", True), Mark("Time", "A2", True)])
    assert (summary.held_out, summary.questions) == (1, 1)
    assert after.questions[:4] == (*QUESTIONS, *titles)
    assert [(new.text, new.question_set, new.article_ids) for new in after.questions[4:]] == [
        ("Money", "questions", ("A2",))
    ]


def test_marks_are_read_in_the_order_of_their_time(marks_file):
    path = marks_file(
        {"question": "b", "article_id": "A1", "right": True, "time": "2026-01-02T00:00:00+01:00"},
        {"question": "a", "article_id": "A1", "right": False, "time": "2026-01-01T23:30:00+00:00", "comment": "no"},
        {"question": "c", "article_id": "A1", "right": True, "time": "2026-01-01T23:15:00"},
        "",
        {"question": "d", "article_id": "A1", "right": True},
    )
    assert [(mark.question, mark.right) for mark in read_marks(path, {"A1": 0})] == [
        ("d", True), ("b", True), ("c", True), ("a", False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"question": "q", "article_id": "A9", "right": True}, "article 'A9' is not in the corpus"),
        ({"question": " ", "article_id": "A1", "right": True}, "the mark has no 'question'; give its text"),
        ({"question": "q", "right": True}, "the mark has no 'article_id'; name the article"),
        ({"question": "q", "article_id": "A1"}, "'right' is missing; give true, false"),
        ({"question": "q", "article_id": "A1", "right": 1}, "'right' is a number; give true, false"),
        ({"question": 5, "article_id": "A1", "right": True}, "'question' is a number, not a string; put it in quotes"),
        ({"question": "q", "article_id": "A1", "right": True, "time": "now"}, "'time' is 'now', not an ISO 8601 time;"),
        ("{", "invalid JSON at column 2"),
    ],
)
def test_a_faulty_line_is_named(marks_file, line, problem):
    good = {"question": "q", "article_id": "A1", "right": True}
    with pytest.raises(CorpusError) as refused:
        read_marks(marks_file(good, line), {"A1": 0})
    (only,) = refused.value.problems
    assert only.startswith(f"feedback.jsonl:2: {problem}")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(CorpusError, match=r"gone.jsonl: no such file; name the JSONL file that 'statgraph serve'"):
        read_marks(tmp_path / "gone.jsonl", {})
