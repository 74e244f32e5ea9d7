import json
from dataclasses import replace

import pytest

from statgraph.errors import CorpusError
from statgraph.formats.importing import About, draft_questions, import_corpus, import_to_folder
from statgraph.formats.tables import (
    draft_csv,
    draft_jsonl,
    heading_paths,
    split_ids,
    split_path,
)
from statgraph.law.draft import Draft, Reading
from statgraph.law.splitting import split_of


def rows(*headings):
    records = (dict(zip(("id", "title", "parent"), heading, strict=True)) for heading in headings)
    return [(f"headings.csv:{line}", record) for line, record in enumerate(records, start=2)]


def test_path_runs_from_the_code_down_whatever_the_order_of_the_rows(draft, recorded):
    paths = heading_paths(
        draft, rows(("s", "Book I", "b"), ("c", "Lamp Code", ""), ("b", "Book I", "c"), ("w", "Well Code", ""))
    )
    assert paths == {
        "s": ("Lamp Code", "Book I", "Book I"), "b": ("Lamp Code", "Book I"), "c": ("Lamp Code",), "w": ("Well Code",),
    }  # fmt: skip
    assert recorded() == []


def test_tree_deeper_than_the_recursion_limit_is_read(draft, recorded):
    chain = rows(*((str(level), f"T{level}", str(level + 1)) for level in range(3000)), ("3000", "Code", ""))
    assert len(heading_paths(draft, chain)["0"]) == 3001
    assert recorded() == []


@pytest.mark.parametrize(
    ("headings", "problem"),
    [
        ([("a", "A", "a")], "2: heading 'a' is its own ancestor (a under a)"),
        (
            [("below", "X", "b"), ("b", "B", "c"), ("c", "C", "d"), ("d", "D", "b")],
            "3: heading 'b' is its own ancestor (b under c under d under b)",
        ),
        (
            [(str(number), "T", str((number + 1) % 50)) for number in range(50)],
            "2: heading '0' is its own ancestor (0 under 1 under 2 under 3 under 4 under 5 under ... under 0)",
        ),
    ],
)
def test_heading_above_itself_is_one_problem_a_round(draft, recorded, headings, problem):
    assert set(heading_paths(draft, rows(*headings))) == {heading[0] for heading in headings}
    (only,) = recorded()
    assert only.startswith(f"headings.csv:{problem}; ")


def test_bad_headings_are_problems(draft, recorded):
    headings = rows(("c", "Code", ""), ("", "No id", "c"), ("c", "Again", ""), ("e", "", "c"), ("o", "Orphan", "gone"))
    heading_paths(draft, headings)
    assert [problem.partition(";")[0] for problem in recorded()] == [
        "headings.csv:3: heading has no id",
        "headings.csv:4: heading id 'c' appears twice (first on line 2)",
        "headings.csv:5: heading 'e' has an empty title",
        "headings.csv:6: heading 'o' has the parent 'gone', which does not exist",
    ]


@pytest.fixture
def csv_folder(tmp_path):
    (tmp_path / "headings.csv").write_text("id,title,parent\n10,Lamp Code,\nb1,Book I,10\n")
    (tmp_path / "articles.csv").write_text(
        'id,title,text,path,heading,note\nL1,Art. 1,"Lamps burn\nalways.",,b1,old\n2,,Who breaks pays.,,10,\n'
        "W1,,Wells are covered.,Well Code > Book I,,\n"
    )
    (tmp_path / "questions.csv").write_text(
        'id,text,articles,split,note\nq1,Who pays?,"2, L1",dev,old\n3,When?,W1,,\nq9,Why?,,train,\n'
    )
    return tmp_path


@pytest.fixture
def jsonl_folder(tmp_path, write_jsonl):
    write_jsonl(
        tmp_path / "headings.jsonl",
        {"id": 10, "title": "Lamp Code"},
        {"id": "b1", "title": "Book I", "parent": 10},
    )
    write_jsonl(
        tmp_path / "articles.jsonl",
        {"id": "L1", "title": "Art. 1", "text": "Lamps burn\nalways.", "heading": "b1", "note": "old"},
        {"_id": 2, "text": "Who breaks pays.", "heading": 10},
        {"id": "W1", "text": "Wells are covered.", "path": ["Well Code", "Book I"], "heading": None},
    )
    write_jsonl(
        tmp_path / "questions.jsonl",
        {"id": "q1", "text": "Who pays?", "articles": [2, "L1"], "split": "dev", "note": "old"},
        {"_id": 3, "text": "When?", "articles": ["W1"]},
        {"id": "q9", "text": "Why?", "articles": []},
    )
    return tmp_path


@pytest.mark.parametrize(("source", "fill"), [("csv_folder", draft_csv), ("jsonl_folder", draft_jsonl)])
def test_folder_becomes_a_corpus(draft, request, source, fill):
    fill(draft, request.getfixturevalue(source))
    corpus = draft.corpus()
    assert [(article.article_id, article.title, article.path, article.order) for article in corpus.articles] == [
        ("L1", "Art. 1", ("Lamp Code", "Book I"), 1),
        ("2", "2", ("Lamp Code",), 2),
        ("W1", "W1", ("Well Code", "Book I"), 1),
    ]
    assert corpus.articles[0].text == "Lamps burn\nalways."
    assert [article.metadata for article in corpus.articles] == [{"note": "old"}, {}, {}]
    assert [(question.question_id, question.split, question.article_ids) for question in corpus.questions] == [
        ("q1", "dev", ("2", "L1")),
        ("3", split_of("3"), ("W1",)),
    ]
    assert corpus.questions[0].metadata == {"note": "old"}
    assert draft.unlabelled_questions == ("q9",)


def test_citing_texts_and_sets_come_from_either_format(draft, csv_folder):
    (csv_folder / "citing.csv").write_text(
        "id,title,text,cites,question_id,part\n"
        'c1,Guide,"Lamps, and who pays.","L1, 2",q1,section\n'
        "c2,,See article 1.,,,\n"
    )
    (csv_folder / "questions.csv").write_text("id,text,articles,split,set\nq1,Who?,L1,dev,\nt1,Lamps,L1,dev,titles\n")
    draft_csv(draft, csv_folder)
    corpus = draft.corpus()
    assert [(text.citing_id, text.article_ids, text.question_id, text.part) for text in corpus.citing] == [
        ("c1", ("L1", "2"), "q1", "section"),
    ]
    assert [text for text, cited in draft.looked_up.items() if not cited] == ["c2"]  # two codes, and it names neither
    assert [question.question_id for question in corpus.split("dev", "titles")] == ["t1"]
    assert [question.question_id for question in corpus.split("dev")] == ["q1"]


@pytest.fixture
def two_codes(draft):
    """A draft of two codes with articles 1 to 3 each, whose ids are h1 to h3 and f1 to f3."""
    for code in ("Housing Code", "Family Code"):
        for number in (1, 2, 3):
            article_id = f"{code[0].lower()}{number}"
            draft.add_article(
                "articles.csv:2", article_id=article_id, text="Lamps burn.", path=[code], number=f"Art. {number}"
            )
    return draft


@pytest.mark.parametrize(
    ("label", "ids"),
    [
        ("h1", ("h1",)),
        ("h1, f2", ("h1", "f2")),
        ("Art. 1, Housing Code", ("h1",)),
        ("Housing Code 3", ("h3",)),
        ("Art. 1 and 2, Family Code", ("f1", "f2")),
        ("Art. 1, Housing Code; Art. 3, Family Code", ("h1", "f3")),
        ("art. 2 housing code", ("h2",)),
    ],
)
def test_labels_are_read_as_people_cite(two_codes, tmp_path, label, ids):
    (tmp_path / "questions.csv").write_text(f'question,articles\nWho pays?,"{label}"\n')
    draft_questions(two_codes, tmp_path / "questions.csv")
    (question,) = two_codes.corpus().questions
    assert question.article_ids == ids


@pytest.mark.parametrize(
    ("label", "hint"),
    [
        ("Art. 1", " (it is in 2 codes, Family Code and Housing Code among them: name the code too)"),
        ("Art. 9, Housing Code", " (nearest: 'Art. 1, Housing Code' and 'Art. 2, Housing Code')"),
        ("h9", ""),
        ("Section 2 Dog Code", ""),
    ],
)
def test_a_label_that_names_no_article_is_a_problem(two_codes, tmp_path, problems_of, label, hint):
    (tmp_path / "questions.csv").write_text(f'question,articles\nWho pays?,"{label}"\n')
    draft_questions(two_codes, tmp_path / "questions.csv")
    found = problems_of(two_codes)[0]
    assert found.startswith("questions.csv:2: label of question 'Who pays?' ")
    assert f"names article '{label}', which does not exist{hint}; add the article or remove the label" in found


def test_a_question_without_an_id_is_known_by_its_words(two_codes, tmp_path):
    (tmp_path / "questions.csv").write_text("question,articles\nWho pays?,h1\nWHO  pays?,h2\nWhen?,h3\n")
    draft_questions(two_codes, tmp_path / "questions.csv")
    first, second = two_codes.corpus().questions
    assert (first.text, first.article_ids, second.article_ids) == ("Who pays?", ("h1", "h2"), ("h3",))
    assert first.question_id.startswith("q-")


def test_a_question_of_another_set_in_the_same_words_is_another(two_codes, tmp_path):
    two_codes.add_question("queries.jsonl:1", question_id="old", text="Who pays?")
    two_codes.add_label("qrels/dev.tsv:2", question_id="old", article_id="h1", split="dev")
    (tmp_path / "questions.csv").write_text(
        "question,articles,split,set\nWho pays?,h2,dev,titles\nWhen?,h1,dev,\nWhen?,h2,dev,titles\n"
    )
    draft_questions(two_codes, tmp_path / "questions.csv")
    assert [(one.text, one.question_set, one.article_ids) for one in two_codes.corpus().questions] == [
        ("Who pays?", "questions", ("h1",)),
        ("Who pays?", "titles", ("h2",)),
        ("When?", "questions", ("h1",)),
        ("When?", "titles", ("h2",)),
    ]


def test_questions_of_another_file_add_labels_to_those_in_the_same_words(two_codes, tmp_path):
    two_codes.add_question("queries.jsonl:1", question_id="old", text="Who pays?")
    two_codes.add_label("qrels/dev.tsv:2", question_id="old", article_id="h1", split="dev")
    (tmp_path / "questions.csv").write_text("id,question,articles,split\nq7,who pays?,h2,\nq8,When?,h3,test\n")
    draft_questions(two_codes, tmp_path / "questions.csv")
    old, new = two_codes.corpus().questions
    assert (old.question_id, old.split, old.article_ids) == ("old", "dev", ("h1", "h2"))
    assert (new.question_id, new.split) == ("q8", "test")


def test_path_in_csv_is_cut_at_its_separator(draft, tmp_path):
    file = tmp_path / "lamps.csv"
    file.write_text("_id;text;path\nL1;Lamps burn.;Lamp Code > Book I, streets > If width>3\n")
    draft_csv(draft, file)
    assert draft.corpus().articles[0].path == ("Lamp Code", "Book I, streets", "If width>3")


def test_fields_of_several_values():
    assert split_ids(" a1,a2; a3  a4,, ") == ("a1", "a2", "a3", "a4")
    assert split_ids("") == ()
    known = {"Art. 1", "Art. 2", "b", "c", "Art. 5, b"}
    assert split_ids(" Art. 1; Art. 2,b c", known) == ("Art. 1", "Art. 2", "b", "c")
    assert split_ids("Art. 5, b", known) == ("Art. 5, b",)
    assert split_ids("Art. 7, b d", known) == ("Art. 7, b d",)  # what is meant is found once all articles are known
    assert split_ids("b; Art. 9, Housing Code\nc", known) == ("b", "Art. 9, Housing Code", "c")
    assert [split_path(text) for text in (" A >  B ", "A >", "> B", "A >  > B", " ")] == [
        ("A", "B"), ("A", ""), ("", "B"), ("A", "", "B"), (),
    ]  # fmt: skip


def test_folder_without_articles_names_what_it_holds(draft, tmp_path, problems_of):
    (tmp_path / "laws.txt").write_text("x")
    draft_jsonl(draft, tmp_path)
    (problem,) = problems_of(draft)
    assert problem.startswith(f"{tmp_path}: holds no articles.jsonl (found: laws.txt); ")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": None}, "article has no id"),
        ({"text": {"fr": "x"}}, "'text' is an object, not a string"),
        ({"path": None}, "article 'L2' has an empty path"),
        ({"path": "A > B"}, "'path' is not a list of strings"),
        ({"heading": "h"}, "article 'L2' has both a path and the heading 'h'"),
        ({"path": None, "heading": "h"}, "article 'L2' is under heading 'h', which does not exist"),
        ({"heading": ["h"]}, "'heading' is a list, not a string"),
    ],
)
def test_bad_article_is_one_problem(draft, tmp_path, write_jsonl, problems_of, change, problem):
    good = {"id": "L1", "text": "Lamps burn.", "path": ["Lamp Code"]}
    write_jsonl(tmp_path / "articles.jsonl", good, {**good, "id": "L2", **change})
    draft_jsonl(draft, tmp_path)
    assert [said.partition(";")[0] for said in problems_of(draft)] == [f"articles.jsonl:2: {problem}"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"articles": "L1"}, "'articles' is not a list of ids"),
        ({"split": "validation"}, "unknown split 'validation'"),
        ({"articles": ["L7"]}, "label of question 'q2' names article 'L7', which does not exist"),
    ],
)
def test_bad_question_is_named(draft, jsonl_folder, write_jsonl, problems_of, change, problem):
    question = {"id": "q2", "text": "Who pays?", "articles": ["L1"], "split": "test", **change}
    write_jsonl(jsonl_folder / "questions.jsonl", question)
    draft_jsonl(draft, jsonl_folder)
    assert problems_of(draft)[0].partition(";")[0] == f"questions.jsonl:1: {problem}"


def test_articles_under_bad_headings_are_not_blamed(draft, jsonl_folder, write_jsonl, problems_of):
    write_jsonl(
        jsonl_folder / "headings.jsonl",
        {"id": 10, "title": None},
        {"id": "b1", "title": "Book I", "parent": "b2"},
        {"id": "b2", "title": "Book II", "parent": "b1"},
    )
    draft_jsonl(draft, jsonl_folder)
    empty, cycle = problems_of(draft)
    assert empty.startswith("headings.jsonl:1: heading '10' has an empty title")
    assert cycle.startswith("headings.jsonl:2: heading 'b1' is its own ancestor")


@pytest.mark.parametrize(
    ("file_name", "header", "missing"),
    [
        ("articles.csv", "title,text", "id or _id or number, path or heading"),
        ("headings.csv", "id,parent", "title"),
        ("questions.csv", "id,answer", "text or question, articles"),
    ],
)
def test_missing_columns_name_those_found(draft, csv_folder, problems_of, file_name, header, missing):
    (csv_folder / file_name).write_text(f"{header}\nx,y\n")
    draft_csv(draft, csv_folder)
    found = header.replace(",", ", ")
    assert problems_of(draft)[0].startswith(f"{file_name}:1: no column {missing} (found: {found})")


def test_a_refusal_names_the_columns_that_the_user_has(draft, csv_folder, problems_of):
    (csv_folder / "articles.csv").write_text("Nummer,Wortlaut\n1,x\n")
    draft.reading = replace(draft.reading, columns={"Nummer": "id", "Wortlaut": "text"})
    draft_csv(draft, csv_folder)
    assert "no column path or heading (found: Nummer, Wortlaut)" in problems_of(draft)[0]


@pytest.mark.parametrize(("fill", "name", "other"), [(draft_jsonl, "law.CSV", "csv"), (draft_csv, "law.json", "jsonl")])
def test_a_file_of_the_other_format_is_named_as_one(draft, problems_of, tmp_path, fill, name, other):
    (tmp_path / name).write_text("id,text,path\n1,x,A\n")
    fill(draft, tmp_path / name)
    (problem,) = problems_of(draft)
    assert problem.startswith(f"{name}: ends in .")
    assert f"'statgraph import {other}'" in problem


def test_ids_with_spaces_can_be_labelled_and_cited(draft, tmp_path):
    (tmp_path / "articles.csv").write_text("id,text,path\nArt. 1,A.,Code\nArt. 2,B.,Code\nb,C.,Code\n")
    (tmp_path / "questions.csv").write_text('id,text,articles\nq1,Why?,Art. 1\nq2,How?,"Art. 2, b"\n')
    (tmp_path / "citing.csv").write_text("id,text,cites\nc1,A guide.,Art. 2;Art. 1\n")
    draft_csv(draft, tmp_path)
    corpus = draft.corpus()
    assert [of.article_ids for of in corpus.questions] == [("Art. 1",), ("Art. 2", "b")]
    assert corpus.citing[0].article_ids == ("Art. 2", "Art. 1")


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        (["Lamp Act,,", "Chapter 1 Light,,"], ("Lamp Act", "Chapter 1 Light")),
        (["Chapter 1 Light,,"], ("town", "Chapter 1 Light")),
        (["Lamp Act,,"], ("town", "Lamp Act")),  # as well a heading of some of the articles
        (["Lamps,,", "Light,,"], ("town", "Light")),
    ],
)
def test_a_heading_row_above_all_others_is_the_code(draft, tmp_path, rows, path):
    articles = tmp_path / "articles.csv"
    articles.write_text("\n".join(["id,number,text", *rows, "a,1,Lamps burn.", ""]))
    draft_csv(draft, articles)
    assert [article.path for article in draft.corpus().articles] == [path]


# What became of each cell.


def summary(source, name, tmp_path, **reading):
    out, about = tmp_path / "out", About(language="en")
    imported = import_to_folder(source, name, out, about, reading=Reading(**reading), force=True)
    return list(imported.words)


TABLES = {
    "articles": "id,number,rubric,text,path,note\nL1,Art. 1,Oil,Lamps burn oil.,Lamp Code > Book I,old\n"
    "L2,Art. 2,,(repealed),Lamp Code > Book I,\n",
    "headings": "id,title,parent\nc,Well Code,\n",
    "questions": "id,text,articles\nq1,Which oil?,L1\nq2,Why?,\n",
    "citing": "id,title,text,cites,colour\nt1,Guide,All burn.,L1,red\n",
}


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "law").mkdir()
    for name, content in TABLES.items():
        (tmp_path / "law" / f"{name}.csv").write_text(content)
    return tmp_path / "law"


def test_each_cell_is_kept_or_left_out_by_a_rule(tables, tmp_path):
    lines = summary(tables, "csv", tmp_path)
    # Of 17 words in names of columns, 13 and 9 of the articles, 3 of the heading, 4 and 2 of questions, 6 of citing.
    assert lines == [
        "74.1 % of 54 words are in articles and headings",
        "16.7 % left out: repealed (first: articles.csv:3)",
        "3.7 % left out: questions that no article answers (first: questions.csv:3)",
        "1.9 % left out: columns that are not read (first: citing.csv:2)",
        "3.7 % lost: headings.csv:2",  # a heading without an article
    ]


WICKS = "A wick is cut once a week by whoever lights the lamp, at the expense of the parish that owns it."
THREE = [("L1", "Lamps burn oil."), ("L2", "Who breaks a lamp pays."), ("L3", WICKS)]


@pytest.mark.parametrize("name", ["csv", "jsonl", "beir"])
def test_a_reader_that_drops_a_row_is_found_out(tmp_path, monkeypatch, name):
    records = [{"id": one, "_id": one, "text": text, "path": ["Lamp Code"]} for one, text in THREE]
    lines = [json.dumps(record) for record in records]
    if name == "csv":
        lines = ["id,text,path", *(f'{one},"{text}",Lamp Code' for one, text in THREE)]
    file = {"csv": "articles.csv", "jsonl": "articles.jsonl", "beir": "corpus.jsonl"}[name]
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / file).write_text("\n".join(lines))
    assert not any("lost" in line for line in summary(tmp_path / "law", name, tmp_path))
    add_article = Draft.add_article

    def drop_the_last(draft, place, **article):
        if article["article_id"] != "L3":
            add_article(draft, place, **article)

    monkeypatch.setattr(Draft, "add_article", drop_the_last)
    with pytest.raises(CorpusError, match=rf"^{file}:{len(lines)}: 2\d of \d\d words would be lost"):
        import_corpus(tmp_path / "law", name, language="en")


@pytest.mark.parametrize("separator", [", ", ";", "; ", " "])
def test_lists_of_ids_are_found_however_they_are_written(tmp_path, separator):
    (tmp_path / "articles.csv").write_text("id,text,path\nL1,Lamps burn.,Lamp Code\nL2,Wicks glow.,Lamp Code\n")
    (tmp_path / "questions.csv").write_text(f'id,text,articles\nq1,Which?,"L1{separator}L2"\n')
    assert not any("lost" in line for line in summary(tmp_path, "csv", tmp_path))


def test_html_is_no_loss(tmp_path):
    (tmp_path / "a.csv").write_text("id,text,path\nL1,<p>Lamps&nbsp;<b>burn</b>.</p>,Lamp Code\n")
    assert not any("lost" in line for line in summary(tmp_path / "a.csv", "csv", tmp_path, strip_html=True))


def test_the_last_day_in_force_is_a_column(tmp_path):
    law = tmp_path / "a.csv"
    law.write_text("id,text,path,valid_from,Valid_Until\nL1,Lamps.,Code,2001-01-01 00:00:00,2019-12-31\n")
    (article,) = import_corpus(law, "csv", language="en").articles
    assert article.metadata == {"valid_from": "2001-01-01", "valid_to": "2020-01-01"}
    assert not any("lost" in line for line in summary(law, "csv", tmp_path))
    law.write_text("id,text,path,valid_until\nL1,Lamps burn.,Lamp Code,soon\n")
    with pytest.raises(CorpusError, match=r"^a.csv:2: article 'L1' has an invalid valid_until 'soon'"):
        import_corpus(law, "csv", language="en")


def test_splits_are_known_in_any_case(tmp_path):
    (tmp_path / "articles.csv").write_text("id,text,path\nL1,Lamps burn.,Lamp Code\n")
    (tmp_path / "questions.csv").write_text("id,text,articles,split\nq1,Which?,L1,TRAIN\n")
    (question,) = import_corpus(tmp_path, "csv", language="en").questions
    assert question.split == "train"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_names_its_encoding(tmp_path, encoding):
    (tmp_path / "a.csv").write_text("id,text,path\nL1,Lamps burn.,Lamp Code\n", encoding=encoding)
    with pytest.raises(CorpusError, match=rf"^a.csv:1: the file holds NUL bytes; .*encoding {encoding}$"):
        import_corpus(tmp_path / "a.csv", "csv", language="en")
    reading = Reading(encoding=encoding)
    assert len(import_corpus(tmp_path / "a.csv", "csv", language="en", reading=reading).articles) == 1
