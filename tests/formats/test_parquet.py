"""Parquet tables as a corpus, and back."""

import sys
from dataclasses import replace
from datetime import date

import pytest

pytest.importorskip("pyarrow", reason="the extra 'parquet' is run in an environment of its own")

from pyarrow import Table, parquet

from statgraph.errors import CorpusError, DependencyError
from statgraph.formats.importing import import_corpus
from statgraph.formats.parquet import write_parquet
from statgraph.law.records import Article, CitingText, Corpus, Question

LEASE = ("Rent Code", "The lease")


@pytest.fixture
def corpus():
    articles = (
        Article("D1", "Art. 1", "The deposit\nis returned.", LEASE, 2, {}, "Art. 1", "Deposit"),
        Article("N1", "Art. 2", "Notice is given.", LEASE, 7, {"valid_from": "2020-01-01", "state": {"now": [1, "é"]}}),
    )
    questions = (
        Question("q1", "Who keeps it?", "train", ("D1", "N1"), {"category": "rent"}),
        Question("q2", "When?", "dev", ("N1",), {"set": "titles"}),
        Question("q3", "How?", "test", ("D1",)),
    )
    citing = (CitingText("c1", "Guide", "Who pays the deposit.", ("D1",), "q1", "paragraph"),)
    return Corpus("rent", "en", "CC0", "written for the tests", articles, questions, citing)


@pytest.fixture
def write(tmp_path):
    """Return a function that writes rows as a table of the folder `law`, and returns the folder."""

    def table(rows, name="corpus.parquet"):
        path = tmp_path / "law" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(Table.from_pylist(rows), path)
        return tmp_path / "law"

    return table


def test_a_corpus_comes_back_as_it_was(corpus, tmp_path):
    write_parquet(corpus, tmp_path)
    back = import_corpus(tmp_path, "parquet")
    assert back == corpus
    assert back.content_hash == corpus.content_hash
    assert [article.metadata for article in back.articles] == [article.metadata for article in corpus.articles]
    assert [question.metadata for question in back.questions] == [question.metadata for question in corpus.questions]
    assert parquet.read_table(tmp_path / "qrels" / "train.parquet").to_pylist() == [
        {"query-id": "q1", "corpus-id": "D1", "score": 1},
        {"query-id": "q1", "corpus-id": "N1", "score": 1},
    ]


def test_without_citing_texts_there_is_no_table_of_them(corpus, tmp_path):
    write_parquet(replace(corpus, citing=()), tmp_path)
    assert not (tmp_path / "citing.parquet").exists()


def test_tables_of_others_are_read_too(write):
    """Parts of a table, a path as text, a number as an id, a date as a date, a label of 0, no order and no manifest."""
    rows = [{"_id": 7, "text": "A.", "path": "Code > Book", "valid_from": date(2020, 1, 31), "state": None}]
    folder = write(rows, "corpus/part-0.parquet")
    write([{"_id": 8, "text": "B.", "path": None, "state": "new"}], "corpus/part-1.parquet")
    write([{"_id": "q", "text": "What?"}], "queries.parquet")
    write([{"query-id": "q", "corpus-id": 7}, {"query-id": "q", "corpus-id": 7}], "qrels/validation.parquet")
    write([{"query-id": "q", "corpus-id": "8", "score": 0.0}], "qrels/dev.parquet")
    read = import_corpus(folder, "parquet", language="en")
    assert [(article.article_id, article.path, article.order, article.metadata) for article in read.articles] == [
        ("7", ("Code", "Book"), 1, {"valid_from": "2020-01-31"}),
        ("8", ("law",), 1, {"state": "new"}),
    ]
    assert [(question.split, question.article_ids) for question in read.questions] == [("dev", ("7",))]


def test_a_file_alone_is_a_table_of_articles(write):
    folder = write([{"_id": "a", "text": "A.", "path": ["Code"]}], "law.parquet")
    read = import_corpus(folder / "law.parquet", "parquet", language="en")
    assert (read.name, [article.article_id for article in read.articles]) == ("law", ["a"])


@pytest.mark.parametrize(
    ("rows", "place", "said"),
    [
        ([{"id": "a", "text": "A."}], "corpus.parquet", "no column _id"),
        ([{"_id": "a", "text": "A.", "path": [1]}], "corpus.parquet row 1", "path"),
        ([{"_id": "a", "text": 3, "path": ["C"]}], "corpus.parquet row 1", "'text' is a number"),
        ([{"_id": "a", "text": "A.", "metadata": "[1]"}], "corpus.parquet row 1", "metadata"),
        (
            [{"_id": "a", "text": "A."}, {"_id": "a", "text": "B."}],
            "corpus.parquet row 2",
            "(first on corpus.parquet row 1)",
        ),
        ([{"_id": "a", "text": "A.", "valid_to": "soon"}], "corpus.parquet row 1", "valid_to"),
    ],
)
def test_what_is_wrong_is_told_with_its_row(write, rows, place, said):
    with pytest.raises(CorpusError) as refused:
        import_corpus(write(rows), "parquet", language="en")
    assert refused.value.problems[0].startswith(f"{place}: ")
    assert said in refused.value.problems[0]


def test_what_is_no_table_is_refused(tmp_path, write):
    with pytest.raises(CorpusError, match=r"holds no corpus\.parquet"):
        import_corpus(tmp_path, "parquet", language="en")
    folder = write([{"_id": "a", "text": "A."}])
    (folder / "queries.parquet").write_text("no table")
    with pytest.raises(CorpusError, match=r"queries\.parquet: cannot be read as Parquet"):
        import_corpus(folder, "parquet", language="en")


def test_a_missing_extra_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DependencyError, match=r"not installed; .* pip install '.\[parquet\]'$"):
        import_corpus(tmp_path, "parquet", language="en")
