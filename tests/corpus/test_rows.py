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
    assert [problem.partition(";")[0] for problem in recorded()] == [
        "x.csv:2: the row has 4 fields and the header 3",
        "x.csv:3: the row has 2 fields and the header 3",
    ]


def test_alternative_column_is_enough(draft, tmp_path, recorded):
    assert rows_of(draft, tmp_path, "_id,text\n1,one\n", needed=("id|_id",)) == [
        ("x.csv:2", {"_id": "1", "text": "one"})
    ]
    assert recorded() == []


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


def test_folder_in_place_of_a_file_is_one_problem(draft, tmp_path, recorded):
    assert list(csv_rows(draft, tmp_path, "x.csv")) == []
    (only,) = recorded()
    assert only.startswith("x.csv: cannot be read (Is a directory)")
