import pytest

from statgraph.corpus.formats.csv import draft_csv, split_ids, split_path
from statgraph.corpus.records import split_of


def test_folder_with_headings_becomes_a_corpus(draft, tmp_path):
    (tmp_path / "headings.csv").write_text("id,title,parent\nc,Lamp Code,\nb1,Book I,c\n")
    (tmp_path / "articles.csv").write_text(
        'id,title,text,heading,note\nL1,Art. 1,"Lamps burn\nfrom dusk, always.",b1,old\nL2,,Who breaks pays.,c,\n'
    )
    (tmp_path / "questions.csv").write_text(
        'id,text,articles,split,topic\nq1,Who pays?,"L2, L1",test,lamps\nq2,When?,L1,,\nq3,Why?,,train,\n'
    )
    draft_csv(draft, tmp_path)
    corpus = draft.corpus()
    assert [(article.article_id, article.title, article.text, article.path) for article in corpus.articles] == [
        ("L1", "Art. 1", "Lamps burn\nfrom dusk, always.", ("Lamp Code", "Book I")),
        ("L2", "L2", "Who breaks pays.", ("Lamp Code",)),
    ]
    assert [article.metadata for article in corpus.articles] == [{"note": "old"}, {}]
    assert [(question.question_id, question.split, question.article_ids) for question in corpus.questions] == [
        ("q1", "test", ("L2", "L1")),
        ("q2", split_of("q2"), ("L1",)),
    ]
    assert corpus.questions[0].metadata == {"topic": "lamps"}
    assert draft.unlabelled_questions == ("q3",)


def test_path_is_cut_at_its_separator(draft, tmp_path):
    file = tmp_path / "lamps.csv"
    file.write_text("_id;text;path\nL1;Lamps burn.;Lamp Code > Book I, streets > If width>3\n")
    draft_csv(draft, file)
    assert draft.corpus().articles[0].path == ("Lamp Code", "Book I, streets", "If width>3")


def test_ids_are_kept_apart_by_commas_semicolons_or_spaces():
    assert split_ids(" a1,a2; a3  a4,, ") == ("a1", "a2", "a3", "a4")
    assert split_ids("") == ()


def test_separator_with_nothing_on_a_side_leaves_an_empty_heading():
    assert split_path(" A >  B ") == ("A", "B")
    assert split_path("A >") == ("A", "")
    assert split_path("> B") == ("", "B")
    assert split_path("A >  > B") == ("A", "", "B")
    assert split_path(" ") == ()


def test_each_article_is_under_a_path_or_a_heading(draft, tmp_path, problems_of):
    (tmp_path / "headings.csv").write_text("id,title,parent\nh,Well Code,\n")
    (tmp_path / "articles.csv").write_text(
        "id,text,path,heading\n1,x,Lamp Code,\n2,x,,h\n3,x,,\n4,x,Lamp Code,h\n5,x,Lamp Code > ,\n6,x,,g\n"
    )
    draft_csv(draft, tmp_path)
    assert problems_of(draft) == [
        "articles.csv:4: article '3' has an empty path; name the headings above it, from the code down",
        "articles.csv:5: article '4' has both a path and the heading 'h'; keep one",
        "articles.csv:6: article '5' has an empty path; name the headings above it, from the code down",
        "articles.csv:7: article '6' is under heading 'g', which does not exist; add it to the table of headings",
    ]


@pytest.mark.parametrize(
    ("file_name", "header", "missing"),
    [
        ("articles.csv", "title,text", "id or _id, path or heading"),
        ("headings.csv", "id,parent", "title"),
        ("questions.csv", "id,question", "text, articles"),
    ],
)
def test_missing_columns_name_those_found(draft, tmp_path, problems_of, file_name, header, missing):
    (tmp_path / "articles.csv").write_text("id,text,path\nL1,Lamps burn.,Lamp Code\n")
    (tmp_path / file_name).write_text(f"{header}\nx,y\n")
    draft_csv(draft, tmp_path)
    found = header.replace(",", ", ")
    assert problems_of(draft)[0] == (
        f"{file_name}:1: no column {missing} (found: {found}); name every needed column on this line"
    )


def test_problems_name_the_line_on_which_a_row_starts(draft, tmp_path, problems_of):
    (tmp_path / "articles.csv").write_bytes(
        b'\xef\xbb\xbfid,text,path\r\nL1,"Lamps\r\nburn.",Lamp Code\r\n\r\nL1,Again.,Lamp Code\r\n,No id.,Lamp Code\r\n'
    )
    (tmp_path / "questions.csv").write_text('id,text,articles\nq1,"Who\npays?",L1\nq2,Why?,L7\n')
    draft_csv(draft, tmp_path)
    assert problems_of(draft) == [
        "articles.csv:5: article id 'L1' appears twice (first on line 2); ids must be unique",
        "articles.csv:6: article has no id; give every article a unique '_id'",
        "questions.csv:4: label of question 'q2' names article 'L7', which does not exist; "
        "add the article or remove the label",
    ]


QUESTIONS = 'id,text,articles,split\nq1,Who pays?,"L1, L2, L3, L4",test\n'


@pytest.mark.parametrize(
    ("articles", "problem"),
    [
        ("id,txet,path\nL1,x,A\n", ":1: no column text (found: id, txet, path); name every needed column on this line"),
        ("id,text,path\n", ": holds no articles; a corpus needs at least one"),
        ("", ":1: the file is empty; name the columns on its first line"),
        ("\ufeffid,text,path\nL1,x,A\n", ":1: the file is UTF-16; save it as UTF-8"),
    ],
)
def test_articles_that_cannot_be_read_are_one_problem(draft, tmp_path, problems_of, articles, problem):
    (tmp_path / "articles.csv").write_bytes(articles.encode("utf-16-le" if "\ufeff" in articles else "utf-8"))
    (tmp_path / "questions.csv").write_text(QUESTIONS)
    draft_csv(draft, tmp_path)
    assert problems_of(draft) == [f"articles.csv{problem}"]


def test_labels_of_refused_rows_are_no_problems_of_their_own(draft, tmp_path, problems_of):
    (tmp_path / "articles.csv").write_text('id,text,path\nL1,x,A\nL2,A\n"L3","say "x"",A\n"L4",x,A\n')
    (tmp_path / "questions.csv").write_text(QUESTIONS + "q2,When?,L5,test\n")
    draft_csv(draft, tmp_path)
    fields, quoting, label = problems_of(draft)
    assert fields.startswith("articles.csv:3: the row has 2 fields and the header 3; ")
    assert quoting.startswith("articles.csv:4: broken quoting in the row that starts here ")
    assert label.startswith("questions.csv:3: label of question 'q2' names article 'L5', which does not exist; ")
