import pytest

from statgraph.law import CitingText
from statgraph.law.draft import Draft


def add_article(draft, article_id="a1", place="corpus.jsonl:1", **changes):
    fields = {"title": "Art. 1", "text": "Lamps burn.", "path": ("Lamp Code",)} | changes
    draft.add_article(place, article_id=article_id, **fields)


def test_draft_without_a_problem_becomes_a_corpus(draft):
    add_article(draft, " a1 ", title=" Art. 1 ", path=(" Lamp Code ", "Book I"), metadata={"x": 1})
    draft.add_label("qrels/train.tsv:2", question_id="q1", article_id=" a1", split="train")
    draft.add_question("queries.jsonl:1", question_id="q1", text=" Why? ")
    corpus = draft.corpus()
    assert (corpus.name, corpus.language, corpus.licence, corpus.source) == ("town", "en", "unknown", "unknown")
    (article,), (question,) = corpus.articles, corpus.questions
    assert (article.article_id, article.title, article.path) == ("a1", "Art. 1", ("Lamp Code", "Book I"))
    assert (article.order, article.metadata) == (1, {"x": 1})
    assert (question.text, question.split, question.article_ids) == ("Why?", "train", ("a1",))


def test_articles_stand_code_by_code_in_their_order(draft):
    for article_id, code, order in [("a", "A", None), ("b", "B", 5), ("c", "A", None), ("d", "B", 2), ("e", "B", None)]:
        add_article(draft, article_id, path=(code,), order=order)
    articles = draft.corpus().articles
    assert [(article.article_id, article.order) for article in articles] == [
        ("a", 1), ("c", 2), ("d", 2), ("b", 5), ("e", 6),
    ]  # fmt: skip


def test_an_article_is_cited_by_its_number_and_code(draft):
    add_article(draft, title="", number=" Art.  36", rubric="The\n deposit ")
    (article,) = draft.corpus().articles
    assert (article.title, article.number, article.rubric) == ("Art. 36, Lamp Code", "Art. 36", "The deposit")


def test_numbers_and_rubrics_are_read_from_titles(draft):
    for row, title in enumerate(["§ 1 LmpC Scope", "§ 2 LmpC Oil", "§ 3 LmpC Wicks"]):
        add_article(draft, f"a{row}", title=title, number="2" * (row == 1) + "9" * (row == 2))
    assert [(article.number, article.rubric) for article in draft.corpus().articles] == [
        ("§ 1", "Scope"), ("§ 2", "Oil"), ("9", "Wicks"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"article_id": " "}, "article has no id"),
        ({"text": " \n"}, "article 'a1' has an empty text"),
        ({"path": ()}, "article 'a1' has an empty path"),
        ({"path": ("Lamp Code", " ")}, "article 'a1' has an empty path"),
        ({"metadata": {"valid_from": "soon"}}, "article 'a1' has an invalid valid_from 'soon'"),
    ],
)
def test_bad_article_is_refused(draft, problems_of, changes, problem):
    add_article(draft, "a2", place="corpus.jsonl:8")
    add_article(draft, place="corpus.jsonl:9", **changes)
    (only,) = problems_of(draft)
    assert only.startswith(f"corpus.jsonl:9: {problem}; ")


def test_repeated_ids_name_their_first_place(draft, problems_of):
    add_article(draft, place="a.csv:2")
    add_article(draft, place="a.csv:5")
    add_article(draft, place="b.csv:2")
    add_article(draft, "a2", place="code.json")
    add_article(draft, "a2", place="code.json")
    draft.add_question("q.csv:2", question_id="q1", text="Why?")
    draft.add_question("q.csv:3", question_id="q1", text="When?")
    assert problems_of(draft) == [
        "a.csv:5: article id 'a1' appears twice (first on line 2); ids must be unique",
        "b.csv:2: article id 'a1' appears twice (first on a.csv:2); ids must be unique",
        "code.json: article id 'a2' appears twice (first on code.json); ids must be unique",
        "q.csv:3: question id 'q1' appears twice (first on line 2); ids must be unique",
    ]


def test_labels_that_point_nowhere_are_refused(draft, problems_of):
    add_article(draft)
    draft.add_question("queries.jsonl:1", question_id="q1", text="Why?")
    draft.add_label("qrels/test.tsv:2", question_id="q1", article_id="a9", split="test")
    draft.add_label("qrels/test.tsv:3", question_id="q9", article_id="a1", split="test")
    draft.add_label("qrels/test.tsv:4", question_id="q1", article_id="", split="test")
    assert [problem.partition(";")[0] for problem in problems_of(draft)] == [
        "qrels/test.tsv:4: label lacks an id",
        "qrels/test.tsv:2: label of question 'q1' names article 'a9', which does not exist",
        "qrels/test.tsv:3: label names question 'q9', which does not exist",
    ]


def test_question_in_two_splits_is_refused_once_a_split(draft, problems_of):
    add_article(draft, "a1")
    add_article(draft, "a2")
    draft.add_question("queries.jsonl:1", question_id="q1", text="Why?")
    draft.add_label("qrels/train.tsv:2", question_id="q1", article_id="a1", split="train")
    draft.add_label("qrels/test.tsv:2", question_id="q1", article_id="a1", split="test")
    draft.add_label("qrels/test.tsv:3", question_id="q1", article_id="a2", split="test")
    (only,) = problems_of(draft)
    assert only.startswith("qrels/test.tsv:2: question 'q1' is in split 'test' and in 'train' (qrels/train.tsv:2); ")


def test_questions_without_a_label_are_left_out_and_named(draft):
    add_article(draft)
    for question_id in ("q1", "q2", "q3"):
        draft.add_question("q.csv:2", question_id=question_id, text="Why?")
    draft.add_label("q.csv:2", question_id="q2", article_id="a1", split="dev")
    assert draft.unlabelled_questions == ("q1", "q3")
    assert [question.question_id for question in draft.corpus().questions] == ["q2"]


def test_labels_say_nothing_of_articles_that_could_not_be_read(draft, problems_of):
    with draft.articles_from("articles.csv"):
        draft.add_problem("articles.csv:1", "no column text")
    draft.add_question("questions.csv:2", question_id="q1", text="Why?")
    draft.add_label("questions.csv:2", question_id="q1", article_id="a1", split="test")
    draft.add_label("questions.csv:3", question_id="q9", article_id="a1", split="test")
    assert problems_of(draft) == [
        "articles.csv:1: no column text",
        "questions.csv:3: label names question 'q9', which does not exist; add the question",
    ]


def test_labels_say_nothing_of_questions_that_could_not_be_read(draft, problems_of):
    add_article(draft)
    draft.add_label("qrels/test.tsv:2", question_id="q1", article_id="a1", split="test")
    assert problems_of(draft) == ["qrels/test.tsv:2: label names question 'q1', which does not exist; add the question"]
    draft.add_problem("queries.jsonl:1", "the file is UTF-16")
    assert problems_of(draft) == ["queries.jsonl:1: the file is UTF-16"]


def test_labels_say_nothing_of_a_row_that_was_refused(draft, problems_of):
    add_article(draft)
    draft.add_problem("articles.csv:3", "too few fields", refused=("a2 ", "Art. 2"))
    draft.add_problem("queries.jsonl:2", "broken JSON", refused=("q2",))
    draft.add_question("queries.jsonl:1", question_id="q1", text="Why?")
    for question_id, article_id in (("q1", "a2"), ("q1", "a3"), ("q2", "a1")):
        draft.add_label("qrels/test.tsv:2", question_id=question_id, article_id=article_id, split="test")
    *_, only = problems_of(draft)
    assert only.startswith("qrels/test.tsv:2: label of question 'q1' names article 'a3', ")
    assert len(problems_of(draft)) == 3


@pytest.mark.parametrize("language", ["French", "FR", "f", ""])
def test_language_is_an_iso_code(problems_of, language):
    draft = Draft(name="town", language=language)
    add_article(draft)
    (only,) = problems_of(draft)
    assert only.startswith(f"town: language '{language}' is not an ISO 639 code")


def add_citing(draft, citing_id="c1", place="citing.jsonl:1", **changes):
    draft.add_citing(
        place, citing_id=citing_id, **({"title": "Guide", "text": "Lamps.", "article_ids": ["a1"]} | changes)
    )


def test_citing_texts_become_records(draft):
    add_article(draft)
    draft.add_question("queries.jsonl:1", question_id="q1", text="Why?")
    draft.add_label("qrels/train.tsv:2", question_id="q1", article_id="a1", split="train")
    add_citing(draft, " c1 ", title=" Guide ", article_ids=["a1", " a1"], question_id=" q1", part="section")
    assert draft.corpus().citing == (CitingText("c1", "Guide", "Lamps.", ("a1",), "q1", "section"),)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"citing_id": " "}, "citing text has no id"),
        ({"text": " "}, "citing text 'c2' has an empty text"),
        ({"part": "chapter"}, "unknown part 'chapter'"),
        ({"article_ids": ["a1", "a7"]}, "citing text 'c2' cites article 'a7', which does not exist"),
        ({"question_id": "q7"}, "citing text 'c2' belongs to question 'q7', which does not exist"),
        ({"citing_id": "c1"}, "citing text id 'c1' appears twice (first on line 1)"),
    ],
)
def test_bad_citing_text_is_refused(draft, problems_of, changes, problem):
    add_article(draft)
    add_citing(draft)
    add_citing(draft, **({"citing_id": "c2", "place": "citing.jsonl:2"} | changes))
    assert [said.partition(";")[0] for said in problems_of(draft)] == [f"citing.jsonl:2: {problem}"]


def test_citing_texts_without_articles_cite_those_that_they_name(draft):
    add_article(draft, "a1", title="Art. 1, Lamp Code")
    add_article(draft, "a2", title="Art. 2, Lamp Code")
    add_citing(draft, "c1", article_ids=[], text="Under article 2, who breaks a lamp pays.")
    add_citing(draft, "c2", article_ids=[], text="Lamps are bright.")
    add_citing(draft, "c3", text="See article 2.")
    assert [(text.citing_id, text.article_ids) for text in draft.corpus().citing] == [("c1", ("a2",)), ("c3", ("a1",))]
    assert draft.looked_up == {"c1": ("a2",), "c2": ()}


def test_a_citing_text_of_a_question_that_is_left_out_belongs_to_none(draft):
    add_article(draft)
    draft.add_question("queries.jsonl:1", question_id="q1", text="Why?")
    add_citing(draft, question_id="q1")
    assert [text.question_id for text in draft.corpus().citing] == [""]
