import pytest

from statgraph.errors import CorpusError
from statgraph.search.question_file import read_question_file


@pytest.fixture
def refusal(tmp_path):
    """Return a function that writes bytes as a question file and returns what reading it says."""

    def refused(content: bytes) -> str:
        path = tmp_path / "asked.jsonl"
        path.write_bytes(content)
        with pytest.raises(CorpusError) as error:
            read_question_file(path)
        return str(error.value)

    return refused


def test_ids_and_texts_in_file_order(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text(
        '{"_id": "b", "text": " Qui paie\\u00a0? ", "metadata": {"x": 1}}\n\n{"_id": "a", "text": "誰が払うか"}\n',
        encoding="utf-8",
    )
    assert read_question_file(path) == (["b", "a"], ["Qui paie\u00a0?", "誰が払うか"])


def test_numbers_are_ids_too(tmp_path):
    path = tmp_path / "asked.jsonl"
    path.write_text('{"_id": 7, "text": "Who?"}\n')
    assert read_question_file(path) == (["7"], ["Who?"])


@pytest.mark.parametrize(("name", "problem"), [("none.jsonl", "no such file"), (".", "is a folder")])
def test_a_missing_file_is_refused(tmp_path, name, problem):
    with pytest.raises(CorpusError) as error:
        read_question_file(tmp_path / name)
    assert str(error.value) == (f"{tmp_path / name}: {problem}; give a JSONL file with one question a line (_id, text)")


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_refused(refusal, tmp_path, content):
    assert refusal(content) == (
        f"{tmp_path / 'asked.jsonl'}: holds no questions; give one JSON object a line with _id and text"
    )


def test_every_problem_is_listed(refusal):
    content = (
        b'{"_id": "a", "text": "Who?"}\n{"_id": "a", "text": "When?"}\n{"_id": "b", "text": " "}\n{"_id": "c"\n'
        b'["d", "Why?"]\n{"_id": "e", "text": "o\xf9"}\n{"text": "How?"}\n{"_id": "f", "text": "\\ud800"}\n'
    )
    assert refusal(content) == (
        "asked.jsonl:2: question id 'a' appears twice (first on line 1); ids must be unique\n"
        "asked.jsonl:3: question 'b' has an empty text; fill it or remove the question\n"
        "asked.jsonl:4: broken JSON at column 12 (Expecting ',' delimiter); each line must be one JSON object\n"
        "asked.jsonl:5: a list in place of an object; each line must be one JSON object\n"
        "asked.jsonl:6: byte 0xf9 is not UTF-8; save the file in UTF-8\n"
        "asked.jsonl:7: question has no id; give every question a unique '_id'\n"
        "asked.jsonl:8: a lone surrogate (\\ud800 to \\udfff) is no character; write the character itself"
    )
