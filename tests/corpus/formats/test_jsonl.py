import pytest

from statgraph.corpus.formats.jsonl import draft_jsonl
from statgraph.corpus.records import split_of


@pytest.fixture
def source(tmp_path, write_jsonl):
    """Statutes under headings by id, with questions, to be spoilt by a test."""
    write_jsonl(
        tmp_path / "headings.jsonl",
        {"id": 10, "title": "Lamp Code"},
        {"id": "b1", "title": "Book I", "parent": 10},
    )
    write_jsonl(
        tmp_path / "articles.jsonl",
        {"id": "L1", "title": "Art. 1", "text": "Lamps burn.", "heading": "b1", "in_force": True},
        {"_id": 2, "text": "Who breaks a lamp pays.", "heading": 10},
        {"id": "W1", "text": "Wells are covered.", "path": ["Well Code", "Book I"], "heading": None},
    )
    write_jsonl(
        tmp_path / "questions.jsonl",
        {"id": "q1", "text": "Who pays?", "articles": [2, "L1"], "split": "dev", "asked_by": "a baker"},
        {"_id": 3, "text": "Are wells covered?", "articles": ["W1"]},
        {"id": "q9", "text": "What of bridges?", "articles": []},
    )
    return tmp_path


def test_folder_becomes_a_corpus(draft, source):
    draft_jsonl(draft, source)
    corpus = draft.corpus()
    assert [(article.article_id, article.title, article.path, article.order) for article in corpus.articles] == [
        ("L1", "Art. 1", ("Lamp Code", "Book I"), 1),
        ("2", "2", ("Lamp Code",), 2),
        ("W1", "W1", ("Well Code", "Book I"), 1),
    ]
    assert corpus.articles[0].metadata == {"in_force": True}
    assert [(question.question_id, question.split, question.article_ids) for question in corpus.questions] == [
        ("q1", "dev", ("2", "L1")),
        ("3", split_of("3"), ("W1",)),
    ]
    assert corpus.questions[0].metadata == {"asked_by": "a baker"}
    assert draft.unlabelled_questions == ("q9",)


def test_single_file_is_a_table_of_articles(draft, tmp_path, write_jsonl):
    file = write_jsonl(tmp_path / "lamps.jsonl", {"id": "L1", "text": "Lamps burn.", "path": ["Lamp Code"]})
    write_jsonl(tmp_path / "questions.jsonl", {"id": "q1", "text": "Why?", "articles": ["L1"]})
    draft_jsonl(draft, file)
    assert [article.article_id for article in draft.corpus().articles] == ["L1"]
    assert draft.corpus().questions == ()


def test_folder_without_articles_names_what_it_holds(draft, tmp_path, problems_of):
    (tmp_path / "laws.txt").write_text("x")
    draft_jsonl(draft, tmp_path)
    assert problems_of(draft) == [
        f"{tmp_path}: holds no articles.jsonl (found: laws.txt); put one article in each row there"
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None}, "article has no id; give every article a unique '_id'"),
        ({"text": None}, "article 'L2' has an empty text; fill it or remove the article"),
        ({"text": {"fr": "x"}}, "'text' is an object, not a string; put it in quotes"),
        ({"path": None}, "article 'L2' has an empty path; name the headings above it, from the code down"),
        ({"path": ["A", " "]}, "article 'L2' has an empty path; name the headings above it, from the code down"),
        (
            {"path": "A > B"},
            "'path' is not a list of strings; name the headings above the article, from the code down",
        ),
        ({"heading": "h"}, "article 'L2' has both a path and the heading 'h'; keep one"),
        (
            {"path": None, "heading": "h"},
            "article 'L2' is under heading 'h', which does not exist; add it to the table of headings",
        ),
        ({"heading": ["h"]}, "'heading' is a list, not a string; put the id in quotes"),
    ],
)
def test_bad_article_is_one_problem(draft, tmp_path, write_jsonl, problems_of, change, problem):
    good = {"id": "L1", "text": "Lamps burn.", "path": ["Lamp Code"]}
    write_jsonl(tmp_path / "articles.jsonl", good, {**good, "id": "L2", **change})
    draft_jsonl(draft, tmp_path)
    assert problems_of(draft) == [f"articles.jsonl:2: {problem}"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": ""}, "question has no id; give every question a unique '_id'"),
        ({"id": "q1"}, "question id 'q1' appears twice (first on line 1); ids must be unique"),
        ({"text": ""}, "question 'q2' has an empty text; fill it or remove the question"),
        ({"articles": "L1"}, '\'articles\' is not a list of ids; write it like ["id 1", "id 2"]'),
        ({"split": "validation"}, "unknown split 'validation'; use one of train, dev, test, or none"),
        ({"split": 1}, "'split' is a number, not a string; put it in quotes"),
        (
            {"articles": ["L7"]},
            "label of question 'q2' names article 'L7', which does not exist; add the article or remove the label",
        ),
    ],
)
def test_bad_question_is_named(draft, source, write_jsonl, problems_of, change, problem):
    good = {"id": "q1", "text": "Who pays?", "articles": ["L1"], "split": "test"}
    write_jsonl(source / "questions.jsonl", good, {**good, "id": "q2", **change})
    draft_jsonl(draft, source)
    assert problems_of(draft)[0] == f"questions.jsonl:2: {problem}"


def test_articles_under_bad_headings_are_not_blamed(draft, source, write_jsonl, problems_of):
    write_jsonl(
        source / "headings.jsonl",
        {"id": 10, "title": None},
        {"id": "b1", "title": "Book I", "parent": "b2"},
        {"id": "b2", "title": "Book II", "parent": "b1"},
    )
    draft_jsonl(draft, source)
    assert problems_of(draft) == [
        "headings.jsonl:1: heading '10' has an empty title; fill it or remove the heading",
        "headings.jsonl:2: heading 'b1' is its own ancestor (b1 under b2 under b1); "
        "correct one of these parents so that the headings form a tree",
    ]


def test_labels_of_a_broken_line_are_no_problems_of_their_own(draft, source, problems_of):
    articles = source / "articles.jsonl"
    articles.write_text(articles.read_text().replace('"text": "Wells', '"text" "Wells'))
    draft_jsonl(draft, source)
    (problem,) = problems_of(draft)
    assert problem.startswith("articles.jsonl:3: invalid JSON at column ")


def test_an_empty_file_of_articles_is_one_problem(draft, source, problems_of):
    (source / "articles.jsonl").write_text("\n")
    draft_jsonl(draft, source)
    assert problems_of(draft) == ["articles.jsonl: holds no articles; a corpus needs at least one"]
