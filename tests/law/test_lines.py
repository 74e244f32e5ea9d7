import json
from datetime import date, datetime, time
from decimal import Decimal

import numpy as np
import pytest

from statgraph.law.lines import csv_rows, decoded_lines, json_lines, table_value


def test_places_count_blank_lines_and_survive_bom_and_crlf(draft, tmp_path, recorded):
    path = tmp_path / "x.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\n\r\n  \n\xc3\xa9t\xc3\xa9\nlast")
    assert list(decoded_lines(draft, path, "x.txt")) == [("x.txt:1", "one"), ("x.txt:4", "été"), ("x.txt:5", "last")]
    assert recorded() == []


@pytest.mark.parametrize(
    ("raw", "lines", "problem"),
    [
        ("fine\nété\n".encode("latin-1"), ["fine", "�t�"], "x.txt:2: byte 0xe9 is not UTF-8; "),
        (
            "été\nfine\nà\nüü\n".encode("latin-1"),
            ["�t�", "fine", "�", "��"],
            "x.txt:1: byte 0xe9 is not UTF-8 (nor are bytes on 2 more lines); ",
        ),
        ("one\ntwo\n".encode("utf-16"), [], "x.txt:1: the file is UTF-16; "),
    ],
)
def test_another_encoding_is_one_problem_of_the_file(draft, tmp_path, recorded, raw, lines, problem):
    (tmp_path / "x.txt").write_bytes(raw)
    assert [line for _, line in decoded_lines(draft, tmp_path / "x.txt", "x.txt")] == lines
    (only,) = recorded()
    assert only.startswith(problem)


def test_folder_in_place_of_a_file_is_a_problem(draft, tmp_path, recorded):
    assert list(decoded_lines(draft, tmp_path, "x.txt")) == []
    (only,) = recorded()
    assert only.startswith("x.txt: cannot be read (Is a directory); ")


def test_json_objects_come_with_their_places(draft, tmp_path, recorded):
    path = tmp_path / "x.jsonl"
    long_text = "law " * 300_000
    path.write_text('{"a": 1}\n\n{"a": "' + long_text + '"}', encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == [("x.jsonl:1", {"a": 1}), ("x.jsonl:3", {"a": long_text})]
    assert recorded() == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"a": 1', "invalid JSON at column 8 (Expecting ',' delimiter)"),
        ('["a"]', "a list instead of an object"),
        ("null", "null instead of an object"),
        ('{"a": NaN}', "invalid JSON (NaN is not a JSON value)"),
        ('{"a": "\\uD800"}', "contains a lone surrogate"),
        ('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}", "invalid JSON ("),
        ('{"a": ' + "1" * 5000 + "}", "invalid JSON ("),
    ],
)
def test_line_that_is_no_object_is_a_problem_and_the_next_is_read(draft, tmp_path, recorded, line, problem):
    path = tmp_path / "x.jsonl"
    path.write_text(f'{line}\n{{"b": 2}}\n', encoding="utf-8")
    assert list(json_lines(draft, path, "x.jsonl")) == [("x.jsonl:2", {"b": 2})]
    (only,) = recorded()
    assert only.startswith(f"x.jsonl:1: {problem}")


def rows_of(draft, tmp_path, raw, **options):
    path = tmp_path / "x.csv"
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode("utf-8"))
    return list(csv_rows(draft, path, "x.csv", **options))


def test_place_is_the_line_on_which_the_row_starts(draft, tmp_path, recorded):
    raw = 'id,text\n1,"one\nrunning, on\n\nand on"\n\n2,two\n"3","say ""three"""\n'
    assert rows_of(draft, tmp_path, raw) == [
        ("x.csv:2", {"id": "1", "text": "one\nrunning, on\n\nand on"}),
        ("x.csv:7", {"id": "2", "text": "two"}),
        ("x.csv:8", {"id": "3", "text": 'say "three"'}),
    ]
    assert recorded() == []


@pytest.mark.parametrize(
    "raw",
    ["sep=;\nid;text\n1;a, b\n", '"sep=;"\r\nid;text\r\n1;a, b', "SEP=|\nid|text\n1|a, b", "sep=\t\nid\ttext\n1\ta, b"],
)
def test_a_first_line_may_name_the_separator(draft, tmp_path, recorded, raw):
    assert rows_of(draft, tmp_path, raw) == [("x.csv:3", {"id": "1", "text": "a, b"})]
    assert recorded() == []


def test_bom_crlf_blank_lines_before_the_header_and_a_missing_last_newline(draft, tmp_path, recorded):
    raw = b'\xef\xbb\xbf\r\nid,text\r\n1,"a\r\nb"\r\n2,c'
    assert rows_of(draft, tmp_path, raw) == [
        ("x.csv:3", {"id": "1", "text": "a\nb"}),
        ("x.csv:5", {"id": "2", "text": "c"}),
    ]
    assert recorded() == []


def test_rows_with_too_many_or_too_few_fields_are_problems(draft, tmp_path, recorded):
    raw = "id,text,path\n1,one, two,A\n2,two\n,,\n3,three,A\n"
    assert rows_of(draft, tmp_path, raw) == [("x.csv:5", {"id": "3", "text": "three", "path": "A"})]
    assert [problem.partition(";")[0] for problem in recorded()] == [
        "x.csv:2: the row has 4 fields and the header 3",
        "x.csv:3: the row has 2 fields and the header 3",
    ]


@pytest.mark.parametrize(
    ("raw", "ids", "problem"),
    [
        ("nr,text\n1,one\n", [], "1: no column id or _id, path or heading (found: nr, text)"),
        ("id,path,path\n1,one,two\n", [], "1: column path appears twice"),
        ('id,path\n1,one\n2,"two\n3,three\n', ["1"], "3: broken quoting in the row that starts here ("),
        ("id,path\n1,été\n2,two\n3,à\n".encode("latin-1"), ["1", "2", "3"], "2: byte 0xe9 is not UTF-8 (nor"),
        ("\n \n", [], "1: the file is empty"),
    ],
)
def test_bad_file_is_one_problem(draft, tmp_path, recorded, raw, ids, problem):
    rows = rows_of(draft, tmp_path, raw, needed=("id|_id", "path|heading"))
    assert [row["id"] for _, row in rows] == ids
    (only,) = recorded()
    assert only.startswith(f"x.csv:{problem}")


@pytest.mark.parametrize(
    ("value", "held"),
    [
        (Decimal("1.50"), "1.50"),
        (b"caf\xc3\xa9 \xff", "café \\xff"),
        (time(9, 30), "09:30:00"),
        (datetime(2020, 1, 2), "2020-01-02"),
        ({"from": [date(2020, 1, 2), Decimal(3)], 4: (b"x", None)}, {"from": ["2020-01-02", "3"], "4": ["x", None]}),
        (np.int64(3), 3),
        (np.float32(1.5), 1.5),
        (np.bool_(True), True),
        (np.datetime64("2020-01-02"), "2020-01-02"),
        (np.array([[1, 2]]), [[1, 2]]),
        ([float("nan"), np.float32("nan"), float("inf")], [None, None, "inf"]),
        (["nan", "None"], ["nan", "None"]),  # a heading or an id, not an empty cell
    ],
)
def test_a_value_of_a_table_is_what_json_can_hold(value, held):
    assert table_value(value) == held
    json.dumps(table_value(value), allow_nan=False)
