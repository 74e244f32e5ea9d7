import pytest

from statgraph.corpus.rows import csv_rows


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


def test_bom_crlf_blank_lines_before_the_header_and_a_missing_last_newline(draft, tmp_path, recorded):
    raw = b'\xef\xbb\xbf\r\nid,text\r\n1,"a\r\nb"\r\n2,c'
    assert rows_of(draft, tmp_path, raw) == [
        ("x.csv:3", {"id": "1", "text": "a\nb"}),
        ("x.csv:5", {"id": "2", "text": "c"}),
    ]
    assert recorded() == []


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_header_tells_the_delimiter(draft, tmp_path, delimiter):
    raw = f"id{delimiter}text\n1{delimiter}one\n"
    assert rows_of(draft, tmp_path, raw) == [("x.csv:2", {"id": "1", "text": "one"})]


def test_fields_longer_than_the_csv_modules_default_are_read(draft, tmp_path, recorded):
    text = "law " * 50_000
    assert rows_of(draft, tmp_path, f"id,text\n1,{text}\n") == [("x.csv:2", {"id": "1", "text": text})]
    assert recorded() == []


def test_rows_with_too_many_or_too_few_fields_are_problems(draft, tmp_path, recorded):
    raw = "id,text,path\n1,one, two,A\n2,two\n,,\n3,three,A\n"
    assert rows_of(draft, tmp_path, raw) == [("x.csv:5", {"id": "3", "text": "three", "path": "A"})]
    remedy = "give each row every column, and put a field that holds the separator in quotes"
    assert recorded() == [
        f"x.csv:2: the row has 4 fields and the header 3; {remedy}",
        f"x.csv:3: the row has 2 fields and the header 3; {remedy}",
    ]


def test_missing_columns_name_those_found(draft, tmp_path, recorded):
    assert rows_of(draft, tmp_path, "nr,text\n1,one\n", needed=("id|_id", "text", "path|heading")) == []
    assert recorded() == [
        "x.csv:1: no column id or _id, path or heading (found: nr, text); name every needed column on this line"
    ]


def test_alternative_column_is_enough(draft, tmp_path, recorded):
    assert rows_of(draft, tmp_path, "_id,text\n1,one\n", needed=("id|_id",)) == [
        ("x.csv:2", {"_id": "1", "text": "one"})
    ]
    assert recorded() == []


def test_column_twice_is_a_problem(draft, tmp_path, recorded):
    assert rows_of(draft, tmp_path, "id,text,text\n1,one,two\n") == []
    assert recorded() == ["x.csv:1: column text appears twice; column names must be unique"]


def test_quote_that_never_closes_is_a_problem_at_the_start_of_its_row(draft, tmp_path, recorded):
    raw = 'id,text\n1,one\n2,"two\n3,three\n'
    assert rows_of(draft, tmp_path, raw) == [("x.csv:2", {"id": "1", "text": "one"})]
    assert recorded() == [
        "x.csv:3: broken quoting in the row that starts here (unexpected end of data); "
        "write a quote inside a quoted field twice"
    ]


def test_another_encoding_is_one_problem_and_rows_still_come(draft, tmp_path, recorded):
    raw = "id,text\n1,été\n2,two\n3,à\n".encode("latin-1")
    assert [row["id"] for _, row in rows_of(draft, tmp_path, raw)] == ["1", "2", "3"]
    assert recorded() == ["x.csv:2: byte 0xe9 is not UTF-8 (nor are bytes on 1 more line); save the file as UTF-8"]


@pytest.mark.parametrize("raw", ["", "\n \n"])
def test_empty_file_is_a_problem(draft, tmp_path, recorded, raw):
    assert rows_of(draft, tmp_path, raw) == []
    assert recorded() == ["x.csv:1: the file is empty; name the columns on its first line"]


def test_folder_in_place_of_a_file_is_one_problem(draft, tmp_path, recorded):
    assert list(csv_rows(draft, tmp_path, "x.csv")) == []
    assert recorded() == ["x.csv: cannot be read (Is a directory); put a readable text file there"]
