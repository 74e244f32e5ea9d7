import pytest

from statgraph.corpus.lines import (
    decoded_lines,
    id_field,
    ids_field,
    json_lines,
    json_type,
    object_field,
    path_field,
    string_field,
)


def test_places_count_blank_lines_and_survive_bom_and_crlf(draft, tmp_path, recorded):
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\n  \n\xc3\xa9t\xc3\xa9\nlast")
    assert list(decoded_lines(draft, path, "x.txt")) == [("x.txt:1", "one"), ("x.txt:4", "été"), ("x.txt:5", "last")]
    assert recorded() == []


def test_bytes_of_another_encoding_are_problems_and_the_line_still_comes(draft, tmp_path, recorded):
    path = tmp_path / "x.txt"
    path.write_bytes("fine\nété\n".encode("latin-1") + b"end\n")
    assert list(decoded_lines(draft, path, "x.txt")) == [("x.txt:1", "fine"), ("x.txt:2", "�t�"), ("x.txt:3", "end")]
    assert recorded() == ["x.txt:2: byte 0xe9 is not UTF-8; save the file as UTF-8"]


def test_another_encoding_is_one_problem_of_the_file(draft, tmp_path, recorded):
    path = tmp_path / "x.txt"
    path.write_bytes("été\nfine\nà\nüü\n".encode("latin-1"))
    assert [line for _, line in decoded_lines(draft, path, "x.txt")] == ["�t�", "fine", "�", "��"]
    assert recorded() == ["x.txt:1: byte 0xe9 is not UTF-8 (nor are bytes on 2 more lines); save the file as UTF-8"]


def test_utf_16_is_one_problem(draft, tmp_path, recorded):
    path = tmp_path / "x.txt"
    path.write_text("one\ntwo\n", encoding="utf-16")
    assert list(decoded_lines(draft, path, "x.txt")) == []
    assert recorded() == ["x.txt:1: the file is UTF-16; save it as UTF-8"]


def test_folder_in_place_of_a_file_is_a_problem(draft, tmp_path, recorded):
    assert list(decoded_lines(draft, tmp_path, "x.txt")) == []
    assert recorded() == ["x.txt: cannot be read (Is a directory); put a readable text file there"]


def test_file_without_the_right_to_read_is_a_problem(draft, tmp_path, recorded, monkeypatch):
    def refuse(self, mode):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    assert list(decoded_lines(draft, tmp_path / "x.txt", "x.txt")) == []
    assert recorded() == ["x.txt: cannot be read (Permission denied); put a readable text file there"]


def test_json_objects_come_with_their_places(draft, tmp_path, recorded):
    path = tmp_path / "x.jsonl"
    long_text = "law " * 300_000
    path.write_text('{"a": 1}\n\n{"a": "' + long_text + '"}', encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == [("x.jsonl:1", {"a": 1}), ("x.jsonl:3", {"a": long_text})]
    assert recorded() == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a": 1', "invalid JSON at column 8 (Expecting ',' delimiter); each line must be one JSON object"),
        ("{'a': 1}", "invalid JSON at column 2 (Expecting property name enclosed in double quotes); "
                     "each line must be one JSON object"),
        ('["a"]', "a list instead of an object; each line must be one JSON object"),
        ("null", "null instead of an object; each line must be one JSON object"),
        ('{"a": NaN}', "invalid JSON (NaN is not a JSON value); each line must be one JSON object"),
        ('{"a": "\\uD800"}', "contains a lone surrogate (\\ud800 to \\udfff); write the character itself"),
    ],
)  # fmt: skip
def test_line_that_is_no_object_is_a_problem_and_the_next_is_read(draft, tmp_path, recorded, line, problem):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{line}\n{{"b": 2}}\n', encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == [("x.jsonl:2", {"b": 2})]
    assert recorded() == [f"x.jsonl:1: {problem}"]


def test_json_too_deep_or_too_long_a_number_is_a_problem(draft, tmp_path, recorded):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}\n" + '{"a": ' + "1" * 5000 + "}\n", encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == []
    assert [problem.partition(" (")[0] for problem in recorded()] == [
        "x.jsonl:1: invalid JSON",
        "x.jsonl:2: invalid JSON",
    ]


def test_escaped_surrogate_pairs_are_characters(draft, tmp_path, recorded):
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": "\\ud83d\\ude00"}\n', encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == [("x.jsonl:1", {"a": "😀"})]
    assert recorded() == []


def test_json_type_is_what_json_calls_a_value():
    values = [None, True, 1, 0.5, "x", [], {}]
    assert [json_type(value) for value in values] == [
        "null", "true or false", "a number", "a number", "a string", "a list", "an object",
    ]  # fmt: skip


def test_ids_may_be_numbers_and_stand_under_either_key(draft, recorded):
    assert id_field(draft, "f:1", {"id": 7}, "_id", "id") == "7"
    assert id_field(draft, "f:1", {"_id": "x", "id": 7}, "_id", "id") == "x"
    assert id_field(draft, "f:1", {"_id": None, "id": 0}, "_id", "id") == "0"
    assert id_field(draft, "f:1", {}, "_id", "id") == ""
    assert recorded() == []


@pytest.mark.parametrize(("value", "kind"), [(True, "true or false"), (1.5, "a number"), (["x"], "a list")])
def test_other_values_are_no_ids(draft, recorded, value, kind):
    assert id_field(draft, "f:1", {"_id": value}, "_id") is None
    assert recorded() == [f"f:1: '_id' is {kind}, not a string; put the id in quotes"]


def test_absent_and_null_are_empty(draft, recorded):
    for record in ({}, {"x": None}):
        assert string_field(draft, "f:1", record, "x") == ""
        assert object_field(draft, "f:1", record, "x") == {}
        assert path_field(draft, "f:1", record, "x") == ()
        assert ids_field(draft, "f:1", record, "x") == ()
    assert recorded() == []


def test_wrong_types_are_problems_and_reading_goes_on(draft, recorded):
    assert string_field(draft, "f:1", {"text": 3}, "text") == "?"
    assert object_field(draft, "f:2", {"metadata": "x"}, "metadata") == {}
    assert path_field(draft, "f:3", {"path": "Code"}, "path", label="metadata.path") == ("?",)
    assert path_field(draft, "f:4", {"path": ["Code", None]}, "path") == ("?",)
    assert ids_field(draft, "f:5", {"articles": "a1"}, "articles") == ()
    assert ids_field(draft, "f:6", {"articles": ["a1", None]}, "articles") == ()
    assert recorded() == [
        "f:1: 'text' is a number, not a string; put it in quotes",
        'f:2: \'metadata\' is a string, not an object; write it like {"name": "value"}',
        "f:3: 'metadata.path' is not a list of strings; name the headings above the article, from the code down",
        "f:4: 'path' is not a list of strings; name the headings above the article, from the code down",
        'f:5: \'articles\' is not a list of ids; write it like ["id 1", "id 2"]',
        'f:6: \'articles\' is not a list of ids; write it like ["id 1", "id 2"]',
    ]
