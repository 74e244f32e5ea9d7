import dataclasses
import json

import pytest

from statgraph.augmentation.store import (
    PartialFile,
    SyntheticQuestion,
    questions_by_row,
    read_synthetic,
    synthetic_of,
    write_synthetic,
)
from statgraph.errors import CorpusError, UsageError

ROWS = {"a": 0, "b": 1, "c": 2}


def test_each_article_has_its_questions_in_order():
    questions = [SyntheticQuestion(*fields, "headings") for fields in (("x", ("b", "a")), ("y", ("b",)), ("z", ("a",)))]
    assert questions_by_row(questions, ROWS) == [["x", "z"], ["x", "y"], []]


QUESTIONS = (SyntheticQuestion("Où ?", ("L1", "W3"), "headings"), SyntheticQuestion("when", ("L2",), "seq2seq:m"))


@pytest.fixture
def manifest(village):
    return {"corpus": {"name": village.name, "content_hash": village.content_hash}, "seed": 0}


@pytest.fixture
def path(tmp_path, manifest):
    path = tmp_path / "out.jsonl"
    write_synthetic(path, QUESTIONS, manifest)
    return path


def refused(call, path, *arguments_and_reason) -> None:
    *arguments, reason = arguments_and_reason
    with pytest.raises(CorpusError, match=f"{path.name}:?.*{reason}"):
        call(path, *arguments)


def test_one_line_each_behind_the_manifest(path, manifest):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {"manifest": manifest}
    assert lines[1:] == [
        '{"text": "Où ?", "article_ids": ["L1", "W3"], "generator": "headings"}',
        '{"text": "when", "article_ids": ["L2"], "generator": "seq2seq:m"}',
    ]


def test_what_was_written_is_read(path, village, manifest):
    file = read_synthetic(path)
    assert (file.manifest, file.questions) == (manifest, QUESTIONS)
    assert synthetic_of(path, village) == QUESTIONS


def test_a_missing_file_or_one_without_questions_is_refused(tmp_path, manifest):
    path = tmp_path / "out.jsonl"
    refused(read_synthetic, path, "no such file")
    write_synthetic(path, [], manifest)
    refused(read_synthetic, path, "holds no questions")
    path.write_text("")
    refused(read_synthetic, path, "holds no questions")


@pytest.mark.parametrize("first", [{}, {"text": "x", "article_ids": ["L1"]}, {"manifest": {"corpus": {"name": "v"}}}])
def test_a_first_line_that_is_no_manifest_is_refused(path, first):
    path.write_text(json.dumps(first) + "\n" + path.read_text().partition("\n")[2])
    refused(read_synthetic, path, "1: not the manifest")


def test_every_faulty_line_is_named(path):
    with path.open("a") as file:
        file.write('{"text": " ", "article_ids": ["L1"]}\n{"text": "x"}\n{"text": "x", "article_ids": "L1"}\n{\n')
    with pytest.raises(CorpusError) as error:
        read_synthetic(path)
    lines = [line.removeprefix(f"{path}:") for line in error.value.problems]
    assert [line.partition(":")[0] for line in lines] == ["4", "5", "6", "6", "7"]
    assert all("'article_ids'" in line for line in lines[:3])
    assert "JSON" in lines[-1]


def test_another_corpus_or_an_unknown_article_is_refused(path, village):
    other = dataclasses.replace(village, name="town", questions=())
    refused(synthetic_of, path, other, "'village' .* not for 'town' ")
    path.write_text(path.read_text().replace('"W3"', '"W9"'))
    refused(synthetic_of, path, village, "article 'W9'")


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table as BSARD's synthetic questions come, and returns its path."""

    def write(*rows: str):
        path = tmp_path / "questions_fr_synthetic.csv"
        path.write_text("\n".join(("id,question,article_ids", *rows)) + "\n", encoding="utf-8")
        return path

    return write


def test_questions_of_a_table_have_the_articles_of_their_row(table, village):
    path = table("9001,où brûle la lampe,L1", '9002," who, and why ","W3, L2"')
    assert synthetic_of(path, village) == (
        SyntheticQuestion("où brûle la lampe", ("L1",), "file:questions_fr_synthetic.csv"),
        SyntheticQuestion("who, and why", ("W3", "L2"), "file:questions_fr_synthetic.csv"),
    )


def test_every_faulty_row_of_a_table_is_named(table, village):
    path = table("1,,L1", "2,where,", "3,where,L1", '4,where,"L1,L9"', "5,where")
    with pytest.raises(CorpusError) as error:
        synthetic_of(path, village)
    lines = [line.removeprefix(f"{path}:") for line in error.value.problems]
    assert [line.partition(":")[0] for line in lines] == ["2", "3", "5", "6"]
    assert all("'question'" in line for line in lines[:2])
    assert "'L1,L9' is not in corpus 'village'" in lines[2]


def test_a_table_that_is_missing_empty_or_without_its_columns_is_refused(table, tmp_path, village):
    refused(synthetic_of, tmp_path / "none.csv", village, "cannot be read")
    path = table()
    refused(synthetic_of, path, village, "holds no questions")
    path.write_text("id,text,articles\n1,where,L1\n")
    refused(synthetic_of, path, village, "1: no column question, article_ids")


ABOUT = {"generator": "seq2seq:m", "seed": 0, "limit": None}


@pytest.fixture
def partial(tmp_path):
    return tmp_path / "a" / "out.jsonl.partial"


@pytest.fixture
def begun(partial):
    """Return a file of two batches."""
    batches = PartialFile(partial, ABOUT)
    batches.append({"a": ["où ?"]})
    batches.append({"b": []})
    return partial


def test_nothing_is_written_before_the_first_batch(partial):
    assert PartialFile(partial, ABOUT).batches == []
    assert not partial.parent.exists()


def test_batches_are_there_again(begun):
    assert PartialFile(begun, ABOUT).batches == [{"a": ["où ?"]}, {"b": []}]
    assert begun.read_text(encoding="utf-8").splitlines() == [
        '{"generator": "seq2seq:m", "seed": 0, "limit": null}', '{"a": ["où ?"]}', '{"b": []}',
    ]  # fmt: skip


@pytest.mark.parametrize("lost", range(1, len('{"b": []}\n') + 1))
def test_a_line_cut_by_a_kill_is_written_again(begun, lost):
    whole = begun.read_bytes()
    begun.write_bytes(whole[:-lost])
    partial = PartialFile(begun, ABOUT)
    assert partial.batches == [{"a": ["où ?"]}]
    partial.append({"b": []})
    assert begun.read_bytes() == whole


def test_a_cut_first_line_starts_over(begun):
    whole = begun.read_bytes()
    begun.write_bytes(whole[:10])
    partial = PartialFile(begun, ABOUT)
    assert partial.batches == []
    partial.append({"a": ["où ?"]})
    partial.append({"b": []})
    assert begun.read_bytes() == whole


@pytest.mark.parametrize(
    ("changed", "said"), [({"seed": 1}, "seed: 0 then, 1 now"), ({"per_article": 5}, "per_article: None then, 5 now")]
)
def test_other_settings_are_refused(begun, changed, said):
    with pytest.raises(UsageError, match=rf"{begun.name}: .*\({said}\); .*delete it"):
        PartialFile(begun, {**ABOUT, **changed})


@pytest.mark.parametrize("line", [b"{", b"[]", b"\xff", b""])
def test_a_damaged_line_is_refused(begun, line):
    lines = begun.read_bytes().split(b"\n")
    begun.write_bytes(b"\n".join([lines[0], line, *lines[2:]]))
    with pytest.raises(UsageError, match=f"{begun.name}: damaged; delete it"):
        PartialFile(begun, ABOUT)


def test_another_process_on_the_same_file_is_noticed(tmp_path):
    first, second = (PartialFile(tmp_path / "file", {"seed": 0}) for _ in range(2))
    first.append({"a": 1})
    with pytest.raises(UsageError, match="another process"):
        second.append({"a": 2})
    first.append({"a": 3})
    assert PartialFile(tmp_path / "file", {"seed": 0}).batches == [{"a": 1}, {"a": 3}]
