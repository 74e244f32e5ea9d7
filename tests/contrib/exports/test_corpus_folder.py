import csv
import json

import ir_measures
import pytest

from statgraph import export
from statgraph.errors import RunError, UsageError
from statgraph.formats.importing import import_corpus
from statgraph.law.store import read_corpus


def test_the_folder_reads_as_beir(corpus, tmp_path):
    export(corpus, "beir", tmp_path / "out")
    lines = [json.loads(line) for line in (tmp_path / "out" / "corpus.jsonl").read_text().splitlines()]
    assert [(line["_id"], line["title"]) for line in lines] == [("D1", "Art. 1"), ("N1", "Art. 2"), ("K1", "Art. 3")]
    with (tmp_path / "out" / "qrels" / "test.tsv").open() as file:
        rows = list(csv.reader(file, delimiter="\t"))
    assert rows == [["query-id", "corpus-id", "score"], ["q2", "D1", "1"], ["q3", "N1", "1"]]
    assert read_corpus(tmp_path / "out").content_hash == corpus.content_hash
    assert not (tmp_path / "out" / "runs").exists()


def test_a_split_is_ranked_for_trec_eval(corpus, dense_run, tmp_path):
    """q2 asks for deposit (east): D1, K1, N1. q3 asks for notice (north): N1, K1, D1."""
    export(corpus, "beir", tmp_path / "out", ranked_by=dense_run, split="test", device="cpu")
    run = list(ir_measures.read_trec_run(str(tmp_path / "out" / "runs" / "test.trec")))
    assert [(hit.query_id, hit.doc_id) for hit in run] == [
        ("q2", "D1"), ("q2", "K1"), ("q2", "N1"), ("q3", "N1"), ("q3", "K1"), ("q3", "D1"),
    ]  # fmt: skip
    assert (tmp_path / "out" / "runs" / "test.qrels").read_text() == "q2 0 D1 1\nq3 0 N1 1\n"


def test_what_cannot_be_ranked_leaves_nothing(corpus, dense_run, bm25_run, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(UsageError, match="split 'dev' of corpus 'rent' has no questions"):
        export(corpus, "beir", out, ranked_by=dense_run, split="dev")
    with pytest.raises(UsageError, match="unknown split 'all'; choose from train, dev, test"):
        export(corpus, "beir", out, ranked_by=dense_run, split="all")
    (bm25_run / "articles.jsonl").write_text("")
    with pytest.raises(RunError):
        export(corpus, "beir", out, ranked_by=bm25_run, split="test")
    assert not out.exists()


def test_questions_are_added_in_a_spreadsheet(corpus, tmp_path):
    export(corpus, "csv", tmp_path / "out")
    with (tmp_path / "out" / "articles.csv").open(encoding="utf-8-sig", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == ["D1", "N1", "K1"]
    with (tmp_path / "out" / "questions.csv").open("a", encoding="utf-8") as file:
        file.write(",Who keeps the keys?,K1,test,\n")

    after = import_corpus(tmp_path / "out", "csv", language="en")

    assert [(one.text, one.path) for one in after.articles] == [(one.text, one.path) for one in corpus.articles]
    asked = {(one.text, one.split, one.article_ids) for one in corpus.questions}
    assert {(one.text, one.split, one.article_ids) for one in after.questions} - asked == {
        ("Who keeps the keys?", "test", ("K1",))
    }


def test_a_corpus_is_written_whole_as_parquet(corpus, tmp_path):
    pytest.importorskip("pyarrow", reason="the extra 'parquet' is run in an environment of its own")
    export(corpus, "parquet", tmp_path / "out")
    assert import_corpus(tmp_path / "out", "parquet") == corpus
