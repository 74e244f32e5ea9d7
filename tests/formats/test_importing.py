import json
import os
import re
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import openpyxl
import pytest

from statgraph.errors import CorpusError, UsageError
from statgraph.formats.importing import (
    About,
    corpus_from_dicts,
    draft_source,
    import_corpus,
    import_to_folder,
    read_question_file,
)
from statgraph.law.draft import Reading
from statgraph.law.store import read_corpus, read_manifest, write_corpus

ARTICLE = {"id": "L1", "text": "Lamps burn.", "path": ["Lamp Code"]}


@pytest.fixture
def source(tmp_path, write_jsonl):
    write_jsonl(tmp_path / "lamps" / "articles.jsonl", ARTICLE)
    return tmp_path / "lamps"


def test_what_is_not_given_comes_from_the_source_or_its_manifest(source):
    corpus = import_corpus(source, "jsonl", language="en")
    assert (corpus.name, corpus.licence, corpus.source) == ("lamps", "unknown", "lamps (jsonl)")
    corpus = import_corpus(source / "articles.jsonl", "jsonl", language="en")
    assert (corpus.name, corpus.source) == ("articles", "articles.jsonl (jsonl)")
    manifest = {"name": "town", "language": "en", "licence": "CC0", "source": "the town hall", "version": 3}
    (source / "manifest.json").write_text(json.dumps(manifest))
    corpus = draft_source("jsonl", source, About(name="city", source="a letter")).corpus()
    assert (corpus.name, corpus.language, corpus.licence, corpus.source) == ("city", "en", "CC0", "a letter")
    (source / "manifest.json").write_text('["town"]')
    with pytest.raises(CorpusError, match=r"manifest.json: holds a list"):
        import_corpus(source, "jsonl", language="en")


@pytest.mark.parametrize("name", ["jsonl", "csv", "beir", "bsard"])
def test_language_is_never_guessed(source, name):
    with pytest.raises(UsageError, match=f"^{source}: the language .*'language fr'"):
        import_corpus(source, name)


def test_unknown_format_lists_the_formats(source):
    with pytest.raises(
        UsageError, match=r"format 'odt'.*jsonl, csv, beir, parquet, bsard, legi, xlsx, docx, md, html, txt, xml"
    ):
        import_corpus(source, "odt", language="en")


# Files of questions to search for.


def test_questions_of_a_file_come_in_its_order(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text(
        '{"_id": "b", "text": " Qui paie\\u00a0? ", "metadata": {"x": 1}}\n\n{"_id": 7, "text": "誰が払うか"}\n',
        encoding="utf-8",
    )
    assert read_question_file(path) == (["b", "7"], ["Qui paie\u00a0?", "誰が払うか"])


@pytest.mark.parametrize(
    ("name", "problem"), [("none.jsonl", "no such file"), (".", "is a folder"), ("blank.jsonl", "holds no questions")]
)
def test_a_file_without_questions_is_refused(tmp_path, name, problem):
    (tmp_path / "blank.jsonl").write_text("\n \n")
    with pytest.raises(CorpusError, match=problem) as refused:
        read_question_file(tmp_path / name)
    assert str(refused.value).startswith(f"{tmp_path / name}: ")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "asked.jsonl",
            '{"id": 1, "text": "Who?", "articles": ["a", "b"], "split": "dev"}\n{"id": "2", "text": "When?"}\n',
        ),
        ("asked.csv", 'id,text,articles,split\n1,Who?,"a,b",dev\n2,When?,,\n'),
        ("asked.CSV", "\ufeffid;text\n1;Who?\n2;When?\n"),
        ("asked.tsv", "_id\ttext\n1\tWho?\n2\tWhen?\n"),
        ("questions_fr_test.csv", 'id,category,question,article_ids\n1,rent,Who?,"7,8"\n2,rent,When?,9\n'),
    ],
)
def test_every_layout_of_questions_that_import_takes_is_read(tmp_path, name, content):
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert read_question_file(tmp_path / name) == (["1", "2"], ["Who?", "When?"])


@pytest.mark.parametrize("name", ["asked.txt", "asked"])
def test_a_text_file_has_a_question_a_line(tmp_path, name):
    (tmp_path / name).write_text("\ufeff¿Quién paga?\r\n\r\n  ¿Cuándo?\n", encoding="utf-8")
    assert read_question_file(tmp_path / name) == (["1", "3"], ["¿Quién paga?", "¿Cuándo?"])
    (tmp_path / name).write_text('{"id": "q", "text": "Who?"}\n')
    assert read_question_file(tmp_path / name) == (["q"], ["Who?"])


@pytest.fixture
def piped():
    """Return a function that gives the path of a pipe with a text, as `/dev/stdin` and `<(...)` are."""
    ends = []

    def write(text):
        end, start = os.pipe()
        ends.append(end)
        with open(start, "w", encoding="utf-8") as pipe:
            pipe.write(text)
        return Path(f"/dev/fd/{end}")

    yield write
    for end in ends:
        os.close(end)


def test_a_pipe_is_read_as_a_file_is(piped):
    assert read_question_file(piped("Who pays?\nWhen?\n")) == (["1", "2"], ["Who pays?", "When?"])
    row = json.dumps(ARTICLE)
    for format_name in ("jsonl", None):  # None: it is recognised by what it holds
        law = import_corpus(piped(row), format_name, language="en")
        assert ([article.text for article in law.articles], law.source) == (["Lamps burn."], "pipe (jsonl)")
    with pytest.raises(CorpusError, match="the file is empty"):
        import_corpus("/dev/null", "csv", language="en")


def test_a_spreadsheet_of_questions_is_refused_in_one_line(tmp_path):
    (tmp_path / "asked.xlsx").write_bytes(b"PK\x03\x04\x84")
    with pytest.raises(CorpusError, match=r"^.*asked.xlsx: not a text file; save it as .csv in UTF-8$"):
        read_question_file(tmp_path / "asked.xlsx")


@pytest.mark.parametrize("content", ['{"nr": 7, "frage": "Wer?"}\n', "nr;frage\n7;Wer?\n"])
def test_a_refusal_names_what_the_file_holds(tmp_path, content):
    path = tmp_path / ("asked.jsonl" if content.startswith("{") else "asked.csv")
    path.write_text(content)
    with pytest.raises(CorpusError, match=r"asked\.\w+:1: no .*found: nr, frage"):
        read_question_file(path)


@pytest.mark.parametrize(("title", "warns"), [("Deposit", True), ("第三条", False), ("Article IV", False), ("", False)])
def test_titles_without_a_number_are_taken_for_rubrics(tmp_path, title, warns):
    number = "" if title else "1"
    (tmp_path / "law.csv").write_text(
        f"id,number,title,text,path\n1,{number},{title},A lamp.,Lamp Act\n", encoding="utf-8"
    )
    caveats = import_to_folder(tmp_path / "law.csv", "csv", tmp_path / "out", About(language="en")).caveats
    assert [f"first: '{title}'" in caveat for caveat in caveats] == [True] * warns


@pytest.mark.parametrize(
    ("name", "file", "rows"),
    [
        ("csv", "articles.csv", ["id,text,path", "1,A lamp.,Act", "2,,Act", "3,[Repealed by Act 5],Act"]),
        ("beir", "corpus.jsonl", ['{"_id": "1", "text": "A lamp."}', '{"_id": "2", "text": " "}']),
    ],
)
def test_articles_without_text_are_left_out_as_repealed(tmp_path, name, file, rows):
    (tmp_path / "law").mkdir()
    (tmp_path / "law" / file).write_text("\n".join(rows))
    imported = import_to_folder(tmp_path / "law", name, tmp_path / "out", About(language="en"))
    assert [article.article_id for article in imported.corpus.articles] == ["1"]
    said = {"csv": f"2 articles without text, taken as repealed (first: {file}:3)",
            "beir": f"1 article without text, taken as repealed (first: {file}:2)"}  # fmt: skip
    assert imported.left_out == (said[name],)


def test_what_refers_to_a_repealed_article_is_refused(tmp_path):
    (tmp_path / "articles.csv").write_text("id,text,path\n1,A lamp.,Lamp Act\n2,,Lamp Act\n")
    (tmp_path / "questions.csv").write_text("id,text,articles\nq,Which?,2\n")
    (tmp_path / "citing.csv").write_text('id,text,cites\nc,Both,"1,2"\n')
    with pytest.raises(CorpusError) as refused:
        import_corpus(tmp_path, "csv", language="en")
    assert refused.value.problems == (
        "questions.csv:2: label of question 'q' names article '2', which has no text (articles.csv:3); "
        "add the text or remove the label",
        "citing.csv:2: citing text 'c' cites article '2', which has no text (articles.csv:3); add it or leave it out",
    )
    (tmp_path / "articles.csv").write_text("id,text,path\n1,A lamp.,Lamp Act\n2,(repealed),Lamp Act\n")
    assert len(import_corpus(tmp_path, "csv", language="en").articles) == 2


def test_a_table_without_a_single_text_is_refused(tmp_path):
    (tmp_path / "articles.csv").write_text("id,text,path\n1,,Lamp Act\n2,NaN,Lamp Act\n")
    with pytest.raises(CorpusError, match=r"^articles.csv: no article has a text; name .*column text="):
        import_corpus(tmp_path, "csv", language="en")


def test_what_a_table_library_writes_into_empty_cells_is_blank(tmp_path):
    (tmp_path / "law.csv").write_text("number,rubric,text,path,note\n1,nan,A lamp.,Lamp Act,NaN\n2,NaN,NaN,NaN,<NA>\n")
    imported = import_to_folder(tmp_path / "law.csv", "csv", tmp_path / "out", About(language="en"))
    (article,) = imported.corpus.articles
    assert (article.rubric, article.metadata) == ("", {})
    assert "1 article without text" in imported.left_out[0]


def test_rows_of_a_data_frame_are_read(tmp_path):
    nan, day = float("nan"), datetime(2001, 2, 3)
    rows = [
        {"id": 1, "text": "A lamp.", "path": ["Act"], "rubric": nan, "heading": nan, "valid_from": day},
        {"id": 2, "text": "A wick.", "path": ["Act"], "rubric": "Wick", "heading": None, "valid_from": nan},
    ]  # fmt: skip
    first, second = corpus_from_dicts(rows, language="en").articles
    assert (first.rubric, second.rubric) == ("", "Wick")
    assert [article.metadata["valid_from"] for article in (first, second)] == ["2001-02-03", None]


def test_doubts_are_warnings_and_in_the_manifest(tmp_path):
    rows = [f"{number},Lamps burn until dawn.,Lamp Act" for number in (*range(1, 20), *range(21, 30))]
    (tmp_path / "law.csv").write_text("\n".join(["number,text,path", *rows]))
    imported = import_to_folder(tmp_path / "law.csv", "csv", tmp_path / "out", About(language="en"))
    doubt = "20 is missing between 19 and 21 (law.csv:21)"
    assert doubt in imported.caveats
    assert read_manifest(tmp_path / "out")["doubts"] == [doubt]
    rows.insert(19, "20,(repealed),Lamp Act")
    (tmp_path / "law.csv").write_text("\n".join(["number,text,path", *rows]))
    imported = import_to_folder(tmp_path / "law.csv", "csv", tmp_path / "out", About(language="en"), force=True)
    assert imported.caveats == ()


def test_questions_beside_documents_name_articles_by_their_numbers(tmp_path):
    law = tmp_path / "law"
    law.mkdir()
    (law / "dogs.txt").write_text(
        "Dog Act\nSection 1 Barking\nA dog may bark.\nSection 2 Fees\nThe owner pays a fee.\n"
    )
    (law / "questions.csv").write_text(
        'id,text,articles\nq1,Who pays?,Section 2\nq2,May it bark?,"Section 1; Section 2"\n'
    )
    imported = import_to_folder(law, "txt", tmp_path / "out", About(language="en"))
    first, second = imported.corpus.questions
    ids = [article.article_id for article in imported.corpus.articles]
    assert (first.article_ids, second.article_ids) == ((ids[1],), tuple(ids))
    assert imported.left_out == ()
    imported = import_to_folder(law / "dogs.txt", "txt", tmp_path / "out", About(language="en"), force=True)
    assert [question.text for question in imported.corpus.questions] == ["Who pays?", "May it bark?"]


DOGS = "Dog Act\nSection 1 Barking\nA dog may bark.\nSection 2 Fees\nThe owner pays a fee.\n"


def written_questions(path):
    """Write two questions to a table of any kind."""
    rows = [("question", "articles"), ("Who pays?", "Section 2"), ("May it bark?", "§ 1 Dog Act")]
    if path.suffix == ".xlsx":
        workbook = openpyxl.Workbook()
        for row in rows:
            workbook.active.append(row)
        workbook.save(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"question": text, "articles": [label]}) + "\n" for text, label in rows[1:]))
    else:
        separator = "\t" if path.suffix == ".tsv" else ";"
        path.write_text("\n".join(separator.join(row) for row in rows))
    return path


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx"])
@pytest.mark.parametrize("is_folder", [True, False])
def test_questions_with_documents_or_beside_one_are_taken(tmp_path, suffix, is_folder):
    (tmp_path / "dogs.txt").write_text(DOGS)
    written_questions(tmp_path / f"questions{suffix}")
    corpus = import_corpus(tmp_path if is_folder else tmp_path / "dogs.txt", "txt", language="en")
    assert [question.text for question in corpus.questions] == ["Who pays?", "May it bark?"]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx"])
def test_questions_are_named_beside_any_source(tmp_path, suffix):
    (tmp_path / "dogs.txt").write_text(DOGS)
    reading = Reading(questions=written_questions(tmp_path / f"asked{suffix}"))
    corpus = import_corpus(tmp_path / "dogs.txt", "txt", language="en", reading=reading)
    barking, fees = (article.article_id for article in corpus.articles)
    assert [(question.text, question.article_ids) for question in corpus.questions] == [
        ("Who pays?", (fees,)),
        ("May it bark?", (barking,)),
    ]


def test_a_label_that_is_not_read_gets_the_article_of_its_number(tmp_path):
    (tmp_path / "kanun.txt").write_text("Kanun\nMadde 1 - Havlar.\nMadde 14 - Isırır.\n", encoding="utf-8")
    (tmp_path / "asked.csv").write_text("question,articles\nKim?,14. madde\n")
    with pytest.raises(CorpusError, match=r"'14\. madde', which does not exist \(nearest: 'Madde 14, Kanun'\)"):
        import_corpus(tmp_path / "kanun.txt", language="tr", reading=Reading(questions=tmp_path / "asked.csv"))


def test_a_title_may_stand_above_a_table_of_questions(tmp_path):
    (tmp_path / "dogs.txt").write_text(DOGS)
    workbook = openpyxl.Workbook()
    for row in (["Asked in 2026"], [], ["question", "articles"], ["Who pays?", "Section 2"]):
        workbook.active.append(row)
    workbook.save(tmp_path / "asked.xlsx")
    (tmp_path / "asked.csv").write_text("Asked in 2026\n\nquestion,articles\nWho pays?,Section 2\n")
    for name in ("asked.xlsx", "asked.csv"):
        reading = Reading(questions=tmp_path / name)
        corpus = import_corpus(tmp_path / "dogs.txt", "txt", language="en", reading=reading)
        assert [(question.text, question.article_ids) for question in corpus.questions] == [("Who pays?", ("2",))]


def test_columns_and_encoding_are_those_of_the_questions_that_are_named(tmp_path):
    (tmp_path / "dogs.txt").write_text(DOGS)
    asked = tmp_path / "asked.csv"
    asked.write_bytes("Soru;Madde\nKim \xf6der?;Section 2\n".encode("cp1254"))
    columns = {"Soru": "text", "Madde": "articles"}
    reading = Reading(questions=asked, columns=columns, encoding="cp1254")
    corpus = import_corpus(tmp_path / "dogs.txt", "txt", language="en", reading=reading)
    assert [(question.text, question.article_ids) for question in corpus.questions] == [("Kim \xf6der?", ("2",))]
    reading = Reading(questions=asked, columns={**columns, "Yanit": "split"}, encoding="cp1254")
    with pytest.raises(CorpusError, match="no column 'Yanit' in any table"):
        import_corpus(tmp_path / "dogs.txt", "txt", language="en", reading=reading)


def test_questions_are_added_to_a_corpus_that_is_there(tmp_path):
    (tmp_path / "dogs.txt").write_text(DOGS)
    reading = Reading(questions=written_questions(tmp_path / "asked.csv"))
    first = import_to_folder(tmp_path / "dogs.txt", "txt", tmp_path / "out", About(language="en"), reading=reading)
    (tmp_path / "more.csv").write_text("question,articles\nwho pays?,Section 1\nAnd at night?,Section 1\n")

    more = Reading(questions=tmp_path / "more.csv")
    after = import_corpus(tmp_path / "out", reading=more)

    assert after.articles == first.corpus.articles
    assert [question.text for question in after.questions] == ["Who pays?", "May it bark?", "And at night?"]
    assert set(after.questions[0].article_ids) == {article.article_id for article in after.articles}
    assert [question.split for question in after.questions[:2]] == [one.split for one in first.corpus.questions]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("none.csv", "none.csv: no such file; name a table of questions and the articles that answer them"),
        ("law", "law: is a folder; name a table of questions and the articles that answer them"),
        ("asked.docx", "asked.docx: ends in '.docx'; save the questions as one of .csv, .tsv, .jsonl, .xlsx"),
    ],
)
def test_what_is_no_table_of_questions_is_refused(tmp_path, name, problem):
    (tmp_path / "dogs.txt").write_text(DOGS)
    (tmp_path / "asked.docx").write_text("x")
    (tmp_path / "law").mkdir()
    with pytest.raises(CorpusError, match=re.escape(problem)):
        import_corpus(tmp_path / "dogs.txt", "txt", language="en", reading=Reading(questions=tmp_path / name))


def test_a_number_of_two_articles_names_none(tmp_path):
    (tmp_path / "articles.csv").write_text(
        "id,number,text,path\na,§ 1,A lamp.,Lamp Act\nb,§ 1,A well.,Well Act\nc,§ 2,A wick.,Lamp Act\n"
    )
    (tmp_path / "questions.csv").write_text("id,text,articles\nq1,Which?,§ 2\n")
    assert import_corpus(tmp_path, "csv", language="en").questions[0].article_ids == ("c",)
    (tmp_path / "questions.csv").write_text("id,text,articles\nq1,Which?,§ 1\n")
    with pytest.raises(CorpusError, match="names article '§ 1', which does not exist"):
        import_corpus(tmp_path, "csv", language="en")


def test_rows_of_a_database_and_of_numpy_come_back_from_the_corpus_that_is_written(tmp_path):
    articles = [
        {"id": np.int64(0), "text": "Dogs are taxed.", "heading": 0, "rate": Decimal("1.50"), "scan": b"p. 3"},
        {"id": 1, "text": "Boats are not.", "heading": np.int64(1), "seen": {"on": [date(2020, 1, 2)]}},
    ]  # fmt: skip
    headings = [{"id": 0, "title": "Town Code"}, {"id": 1, "title": "Boats", "parent": 0}]
    questions = [{"id": 0, "text": "Who taxes dogs?", "articles": [np.int64(0)], "split": "train"}]
    write_corpus(corpus_from_dicts(articles, questions, headings=headings, language="en"), tmp_path / "town")
    back = read_corpus(tmp_path / "town")
    assert [(article.article_id, article.path, article.metadata) for article in back.articles] == [
        ("0", ("Town Code",), {"rate": "1.50", "scan": "p. 3"}),
        ("1", ("Town Code", "Boats"), {"seen": {"on": ["2020-01-02"]}}),
    ]
    assert back.questions[0].article_ids == ("0",)
