import dataclasses
import json

import pytest

from statgraph.augmentation.store import (
    SyntheticQuestion,
    questions_by_row,
    read_synthetic,
    synthetic_of,
    unknown_article,
    write_synthetic,
)
from statgraph.errors import CorpusError

ROWS = {"a": 0, "b": 1, "c": 2}


def test_each_article_has_its_questions_in_order():
    questions = [SyntheticQuestion(*fields, "headings") for fields in (("x", ("b", "a")), ("y", ("b",)), ("z", ("a",)))]
    assert questions_by_row(questions, ROWS) == [["x", "z"], ["x", "y"], []]


def test_a_question_does_not_change():
    with pytest.raises(AttributeError):
        SyntheticQuestion("x", ("a",), "headings").text = "y"


def test_a_question_for_some_of_its_articles():
    question = SyntheticQuestion("x", ("b", "a", "c"), "headings")
    assert question.only({"a", "b"}) == SyntheticQuestion("x", ("b", "a"), "headings")


QUESTIONS = (SyntheticQuestion("Où ?", ("L1", "W3"), "headings"), SyntheticQuestion("when", ("L2",), "seq2seq:m"))


@pytest.fixture
def manifest(village):
    return {"corpus": {"name": village.name, "content_hash": village.content_hash}, "seed": 0}


@pytest.fixture
def path(tmp_path, manifest):
    path = tmp_path / "out.jsonl"
    write_synthetic(path, QUESTIONS, manifest)
    return path


def refusal(call, *arguments) -> str:
    with pytest.raises(CorpusError) as refused:
        call(*arguments)
    return str(refused.value)


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


def test_a_missing_file_is_refused(tmp_path):
    path = tmp_path / "none.jsonl"
    assert refusal(read_synthetic, path) == f"{path}: no such file; write one with 'statgraph augment'"


def test_a_file_without_questions_is_refused(tmp_path, manifest):
    path = tmp_path / "out.jsonl"
    write_synthetic(path, [], manifest)
    assert refusal(read_synthetic, path) == f"{path}: holds no questions; write it again with 'statgraph augment'"
    path.write_text("")
    assert refusal(read_synthetic, path) == f"{path}: holds no questions; write it again with 'statgraph augment'"


@pytest.mark.parametrize("first", [{}, {"text": "x", "article_ids": ["L1"]}, {"manifest": {"corpus": {"name": "v"}}}])
def test_a_first_line_that_is_no_manifest_is_refused(path, first):
    path.write_text(json.dumps(first) + "\n" + path.read_text().partition("\n")[2])
    assert refusal(read_synthetic, path) == (
        f"{path}:1: not the manifest of synthetic questions, which comes first; write the file with 'statgraph augment'"
    )


def test_every_faulty_line_is_named(path):
    with path.open("a") as file:
        file.write('{"text": " ", "article_ids": ["L1"]}\n{"text": "x"}\n{"text": "x", "article_ids": "L1"}\n{\n')
    lines = refusal(read_synthetic, path).splitlines()
    assert lines[:2] == [
        f"{path}:{number}: lacks a 'text', or an id in 'article_ids'; write the file again" for number in (4, 5)
    ]
    assert lines[2] == f'{path}:6: \'article_ids\' is not a list of ids; write it like ["id 1", "id 2"]'
    assert lines[-1].startswith(f"{path}:7: invalid JSON at column 2 ")


def test_another_corpus_is_refused(path, village):
    other = dataclasses.replace(village, name="town", questions=())
    assert refusal(synthetic_of, path, other) == (
        f"{path}: made for corpus 'village' (hash {village.content_hash[:12]}), not for 'town' (hash "
        f"{other.content_hash[:12]}); name that corpus with --corpus, or write the file again with 'statgraph augment'"
    )


def test_an_article_that_the_corpus_lacks_is_refused(path, village):
    path.write_text(path.read_text().replace('"W3"', '"W9"'))
    assert refusal(synthetic_of, path, village) == (
        f"{path}: article 'W9' is not in corpus 'village'; write the file again"
    )


def test_unknown_articles():
    assert unknown_article(QUESTIONS, {"L1": 0, "W3": 1, "L2": 2}) is None
    assert unknown_article(QUESTIONS, {"L1": 0, "L2": 2}) == "W3"
