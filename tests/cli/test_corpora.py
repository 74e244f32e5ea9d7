"""`statgraph import` and `build-graph` as users run them: exit code, standard output and error, files."""

import json
import os

import pytest
from click.testing import CliRunner

from statgraph.cli.main import cli
from statgraph.law.store import read_corpus


@pytest.fixture
def source(tmp_path):
    """A user's own statutes as JSON lines, without a fault."""
    folder = tmp_path / "lamps"
    folder.mkdir()
    (folder / "headings.jsonl").write_text(
        '{"id": "c", "title": "Lamp Code"}\n{"id": "b", "title": "Book I", "parent": "c"}\n'
    )
    (folder / "articles.jsonl").write_text(
        '{"id": "L1", "title": "Art. 1", "text": "Lamps burn.", "heading": "b"}\n'
        '{"id": "L2", "title": "Art. 2", "text": "Who breaks a lamp pays.", "heading": "b"}\n'
    )
    (folder / "questions.jsonl").write_text(
        '{"id": "q1", "text": "Who pays?", "articles": ["L2"], "split": "train"}\n'
        '{"id": "q2", "text": "When?", "articles": ["L1", "L2"], "split": "test"}\n'
        '{"id": "q3", "text": "Why?"}\n'
    )
    return folder


@pytest.fixture
def refused_import(refused, tmp_path):
    """Return a function that imports a faulty source, checks that nothing was written and returns what was said."""

    def run(*arguments, code=1):
        before = sorted(tmp_path.rglob("*"))
        said = refused("import", *arguments, "--out", tmp_path / "out", code=code)
        assert sorted(tmp_path.rglob("*")) == before
        return said

    return run


def test_a_pipe_is_recognised_and_imported(tmp_path):
    end, start = os.pipe()
    with open(start, "w") as pipe:
        pipe.write("LAMP CODE\n\nArticle 1\nLamps burn.\n\nArticle 2\nWho breaks a lamp pays.\n")
    done = CliRunner().invoke(cli, ["import", f"/dev/fd/{end}", "--language", "en", "--out", str(tmp_path / "law")])
    os.close(end)
    assert (done.exit_code, done.stderr.partition(";")[0]) == (0, "Format: txt (its first bytes)")
    assert [article.text for article in read_corpus(tmp_path / "law").articles] == [
        "Lamps burn.",
        "Who breaks a lamp pays.",
    ]


def test_import_writes_a_corpus_and_says_what_it_holds(run_here, ran, source, tmp_path):
    done = ran("import", "jsonl", source, "--out", "out", "--language", "en", "--licence", "CC0")
    assert done == (
        "out: corpus 'out' (en)\n"
        "  articles   2\n"
        "  headings   2\n"
        "  questions  train 1, dev 0, test 1\n"
        "  labels     3\n"
        "  left out   1 question that no article answers\n"
        "  words      94.3 % of 35 words are in articles and headings\n"
        "  words      5.7 % left out: questions that no article answers (first: questions.jsonl:3)\n"
        "Next: statgraph train --corpus out\n"
    )
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "corpus.jsonl", "manifest.json", "qrels", "queries.jsonl",
    ]  # fmt: skip

    again = run_here("import", "beir", "out", "--out", "out")
    assert (again.returncode, again.stdout) == (1, "")
    assert again.stderr == ("Error: out: holds a corpus already; add --force to replace it, or choose a new folder\n")
    again = ran("import", "beir", "out", "--out", "out", "--force")
    kept, of_words = done.split("  left out   1 question that no article answers\n")
    assert again.startswith(f"{kept}  words      100.0 % of ")
    assert again.endswith(of_words.splitlines(keepends=True)[-1])


def test_import_says_what_became_of_citing_texts_and_lists_each_set(ran, source):
    (source / "citing.jsonl").write_text(
        '{"id": "c1", "title": "Guide", "text": "Lamps are paid for.", "cites": ["L2"], "question_id": "q1"}\n'
        '{"id": "c2", "title": "Guide", "text": "They burn, says article 1."}\n'
        '{"id": "c3", "title": "Guide", "text": "Lamps are bright."}\n'
    )
    with (source / "questions.jsonl").open("a") as file:
        file.write('{"id": "t1", "text": "Lamps", "articles": ["L1"], "split": "dev", "set": "titles"}\n')
    done = ran("import", "jsonl", source, "--out", "out", "--language", "en")
    assert done.splitlines()[3:] == [
        "  questions  train 1, dev 0, test 1",
        "  titles     train 0, dev 1, test 0",
        "  labels     3",
        "  citing     2, of which 1 by the articles that the text names",
        "  left out   1 question that no article answers",
        "  left out   1 citing text without an article",
        "  words      88.3 % of 60 words are in articles and headings",
        "  words      8.3 % left out: citing texts without an article (first: citing.jsonl:3)",
        "  words      3.3 % left out: questions that no article answers (first: questions.jsonl:3)",
        "Next: statgraph train --corpus out",
    ]


def test_what_cannot_be_imported_is_one_line(refused_import, source, tmp_path):
    assert refused_import("odt", source, code=2) == (
        "unknown format 'odt'; choose from jsonl, csv, beir, parquet, bsard, legi, xlsx, docx, md, html, txt, xml, "
        "feedback"
    )
    assert refused_import("jsonl", source, code=2) == (
        f"{source}: the language of its statutes is unknown; name it, such as '--language fr'"
    )
    assert refused_import("csv", tmp_path / "gone", "--language", "en") == (
        f"{tmp_path / 'gone'}: no such file or folder; name the statutes to import"
    )
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.odt").write_text("years of work")
    assert refused_import("jsonl", source, "--language", "en") == (
        f"{tmp_path / 'out'}: contains 'thesis.odt', which is not a corpus file; choose a new folder"
    )


def test_feedback_becomes_training_labels(run_here, ran, source, tmp_path):
    run_here("import", "jsonl", source, "--out", "lamp-corpus", "--language", "en")
    marks = tmp_path / "feedback.jsonl"
    marks.write_text(
        '{"question": "Who pays?", "article_id": "L1", "right": true}\n'
        '{"question": "who  pays?", "article_id": "L2", "right": true}\n'
        '{"question": "When?", "article_id": "L1", "right": true}\n'
        '{"question": "How long?", "article_id": "L2", "right": false}\n'
        '{"question": "How long?", "article_id": "L2", "right": true}\n'
        '{"question": "How long?", "article_id": "L1", "right": false}\n'
    )
    done = ran("import", "feedback", marks, "--corpus", "lamp-corpus", "--out", "out")
    assert done == (
        "out: corpus 'lamp-corpus' with readers' marks\n"
        "  marks      6\n"
        "  left out   1 overruled by a later one\n"
        "  left out   1 wrong\n"
        "  left out   1 already labels\n"
        "  left out   1 on questions of dev or test\n"
        "  labels     2 new\n"
        "  questions  1 new in train\n"
        "Next: statgraph train --corpus out\n"
    )
    assert (tmp_path / "out" / "qrels" / "train.tsv").read_text().splitlines()[1:3] == ["q1\tL2\t1", "q1\tL1\t1"]


def test_questions_of_the_same_labels_can_be_kept_in_one_split(run_here, source, tmp_path):
    # By its id alone q1 is in test, q2 in dev, q3 in train.
    (source / "questions.jsonl").write_text(
        '{"id": "q1", "text": "Who pays?", "articles": ["L2"]}\n'
        '{"id": "q2", "text": "When?", "articles": ["L1", "L2"]}\n'
        '{"id": "q3", "text": "Who is to pay?", "articles": ["L2"]}\n'
    )
    for splits, counts in (("hash", "train 1, dev 1, test 1"), ("by-labels", "train 0, dev 1, test 2")):
        options = ("--language", "en", "--splits", splits, "--force")
        done = run_here("import", "jsonl", source, "--out", "out", *options)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[3] == f"  questions  {counts}"
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["source"] == "lamps (jsonl); splits by-labels"


def test_splits_that_come_with_the_questions_are_not_made_anew(refused_import, source):
    assert refused_import("jsonl", source, "--language", "en", "--splits", "by-labels") == (
        "questions.jsonl:1: question 'q1' comes in split 'train'; --splits by-labels makes splits where the source has "
        "none, so leave either out"
    )


GERMAN = "nr\tWortlaut\tpfad\n1\t<p>Das Gef\u00e4\u00df&nbsp;bleibt.</p>\tKodex\n2\tEs gilt a < b.\tKodex\n"


def test_tables_in_another_encoding_with_other_columns_and_html(run_here, ran, tmp_path):
    (tmp_path / "gesetz.csv").write_text(GERMAN, encoding="cp1252")
    options = ["--language", "de", "--encoding", "cp1252", "--column", "id=nr", "--column", "text=Wortlaut"]
    command = ["import", "csv", "gesetz.csv", "--out", "out", *options, "--column", "path=pfad"]
    done = run_here(*command)
    assert (done.returncode, done.stderr) == (
        0,
        "Warning: articles with HTML: 1 (first: 1), which is shown and searched as it stands; "
        "add --strip-html to import their plain text\n",
    )
    done = ran(*command, "--strip-html", "--force")
    articles = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_text("utf-8").splitlines()]
    assert [(a["_id"], a["text"], a["metadata"]["path"]) for a in articles] == [
        ("1", "Das Gef\u00e4\u00df bleibt.", ["Kodex"]), ("2", "Es gilt a < b.", ["Kodex"]),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--encoding", "cp9999"], 2, "--encoding cp9999: unknown; name one that Python knows, such as cp1252"),
        (["--encoding", "ascii"], 1, "gesetz.csv: is not in the encoding ascii ("),
        (["--column", "text"], 2, "--column text: write OURS=YOURS, where OURS is one of id, title, text, "),
        (["--column", "txt=Wortlaut"], 2, "--column txt=Wortlaut: write OURS=YOURS, where OURS is one of id, "),
        (["--column", "title=Titel"], 1, "{file}: no column 'Titel' in any table; name one of them with --column"),
    ],
)
def test_encodings_and_columns_that_do_not_fit_are_refused(refused_import, tmp_path, options, code, message):
    path = tmp_path / "gesetz.csv"
    path.write_text("id;text;path\n1;Gef\u00e4\u00df;Kodex\n", encoding="utf-8")
    said = refused_import("csv", path, "--language", "de", *options, code=code)
    assert said.startswith(message.format(file=path))


def test_a_column_can_serve_twice_and_names_match_without_case_and_blanks(ran, tmp_path):
    (tmp_path / "ley.csv").write_text("Nº ;TÍTULO;Texto\n1;Perros;Ladran.\n", encoding="utf-8")
    columns = [f"--column={pair}" for pair in ("id=nº", "number=Nº", " rubric=título".strip(), "text=TEXTO")]
    ran("import", "csv", "ley.csv", "--language", "es", "--code", "Ley", *columns, "--out", "law")
    (article,) = read_corpus(tmp_path / "law").articles
    assert (article.article_id, article.number, article.rubric, article.text) == ("1", "1", "Perros", "Ladran.")


LAW = "Ley de Perros\nTÍTULO I. Perros\nArtículo 1. Ladrar.\nLos perros ladran.\nArtículo 2. (Derogado)\n"


def test_the_format_of_a_source_is_recognised_and_said(run_here, tmp_path):
    (tmp_path / "ley.txt").write_text(LAW, encoding="utf-8")
    done = run_here("import", "ley.txt", "--language", "es", "--out", "corpora/perros")
    assert (done.returncode, done.stderr) == (
        0,
        "Format: txt (its name ends in .txt); if it is another, name it: statgraph import FORMAT ley.txt\n",
    )
    assert done.stdout == (
        "corpora/perros: corpus 'perros' (es)\n"
        "  articles   1\n"
        "  headings   2\n"
        "  rubrics    1\n"
        "  questions  train 0, dev 0, test 0\n"
        "  labels     0\n"
        "  words      80.0 % of 15 words are in articles and headings\n"
        "  words      20.0 % left out: repealed (first: ley.txt:5)\n"
        "Next: statgraph train --corpus corpora/perros\n"
    )
    named = run_here("import", "txt", "ley.txt", "--language", "es", "--out", "c", "--name", "dogs")
    assert (named.stderr, named.stdout.splitlines()[0]) == ("", "c: corpus 'dogs' (es)")


def test_what_is_recognised_is_explained_and_nothing_is_written(run_here, ran, source, tmp_path):
    (tmp_path / "ley.txt").write_text(LAW, encoding="utf-8")
    before = sorted(tmp_path.rglob("*"))
    done = ran("import", "txt", "ley.txt", "--language", "es", "--explain")
    assert done.splitlines()[2:] == [
        "ley.txt:3  article   Artículo 1, Ladrar (Ley de Perros > TÍTULO I. Perros), 18 characters",
        "ley.txt:5  left out  repealed: Artículo 2. (Derogado)",
        "80.0 % of 15 words are in articles and headings",
        "20.0 % left out: repealed (first: ley.txt:5)",
    ]
    done = run_here("import", "jsonl", source, "--language", "en", "--explain")
    assert done.stdout.splitlines()[0].startswith("articles.jsonl:1   article   L1 (Lamp Code > Book I)")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ley.txt", "--article-pattern", "("], "--article-pattern (: invalid regular expression (missing ), "),
        (["ley.txt", "--column", "id=Nº"], "--column: only for jsonl, csv, xlsx, --questions, not txt; omit it"),
        (["csv"], "import csv: names no source; write 'statgraph import csv SOURCE --out DIR'"),
        (["txt", "ley", "de perros.txt"], "import: takes [FORMAT] SOURCE (got txt ley de perros.txt); "),
    ],
)
def test_imports_that_contradict_themselves_are_refused(run_here, tmp_path, arguments, message):
    (tmp_path / "ley.txt").write_text(LAW, encoding="utf-8")
    status, stdout, stderr = run_here("import", *arguments, "--language", "es", "--out", "out")
    assert (status, stdout) == (2, "")
    assert f"Error: {message}" in stderr
    assert not (tmp_path / "out").exists()


def test_articles_without_headings_stand_under_the_code_that_is_named(run_here, refused_import, tmp_path):
    path = tmp_path / "rules.csv"
    path.write_text("id,text\n1,No dogs.\n2,No carts.\n", encoding="utf-8")
    assert refused_import("csv", path, "--language", "en", code=1) == (
        "rules.csv:1: no column path or heading (found: id, text); name every needed column on this line, or give "
        "yours with --column, such as text=Wortlaut; --code TITLE does without path and heading"
    )
    status, _, _ = run_here("import", "csv", path, "--language", "en", "--code", "House Rules", "--out", "law")
    assert status == 0
    assert [article.path for article in read_corpus(tmp_path / "law").articles] == [("House Rules",)] * 2


def test_counts_by_hand(run_here, town, tmp_path):
    done = run_here("build-graph", town, "--out", "g", "--relations", "tree, bipartite,order")

    # One code over two books of eight articles each; eight training questions with one article each.
    assert done.stdout.splitlines()[1:] == [
        "  nodes   16 articles, 3 headings, 8 questions",
        "  edges           8  article-cited_by-question",
        "  edges          14  article-follows-article",
        "  edges          16  article-in_heading-heading",
        "  edges          14  article-precedes-article",
        "  edges          16  heading-contains_article-article",
        "  edges           2  heading-contains_heading-heading",
        "  edges           2  heading-under_heading-heading",
        "  edges           8  question-cites-article",
        "  depth   1: 1, 2: 2",
        "  cited   8 articles, by training questions",
        "  orphans 0 articles without edges",
    ]
    assert json.loads((tmp_path / "g" / "manifest.json").read_text())["relations"] == ["tree", "bipartite", "order"]

    again = run_here("build-graph", town, "--out", "g", "--relations", "none")
    assert again.stdout.splitlines()[1:] == [
        "  nodes   16 articles, 3 headings, 8 questions",
        "  depth   1: 1, 2: 2",
        "  cited   0 articles, by training questions",
        "  orphans 16 articles without edges",
    ]


def test_rubrics_read_from_titles_are_counted(run_here, tmp_path):
    rows = "".join(f"{row},§ {row} LmpC {'Oil' * row},Text.,Lamp Code\n" for row in range(1, 5))
    (tmp_path / "law.csv").write_text(f"id,title,text,path\n{rows}")
    done = run_here("import", "csv", "law.csv", "--out", "out", "--language", "en")
    assert "  headings   1\n  rubrics    4\n" in done.stdout


def test_a_law_without_numbers_is_announced(run_here, tmp_path):
    rows = "id,title,path,text\nRNT1,Barking,Dog Code,Bark.\nRNT2,Biting,Dog Code,Bite.\nRNT3,Food,Dog Code,Eat.\n"
    (tmp_path / "dogs.csv").write_text(rows)
    line = "  numbers    none: a question cannot name an article by its number\n"
    assert line in run_here("import", "dogs.csv", "--language", "en", "--out", "c").stdout
    (tmp_path / "dogs.csv").write_text(rows.replace("RNT", "Art. "))
    assert line not in run_here("import", "dogs.csv", "--language", "en", "--out", "c", "--force").stdout
