"""The file of marks: whole lines under many writers, and its bound."""

import json
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from statgraph.errors import UsageError
from statgraph.law.feedback import read_marks
from statgraph.service.feedback import FeedbackFullError, append_mark, check_writable

MARK = {"question": "Où ?\n\u2028", "article_id": "H1", "right": True, "comment": None}


def test_marks_of_many_writers_are_whole_lines(tmp_path):
    def append(number):
        append_mark(tmp_path / "f.jsonl", max_bytes=10**6, **MARK | {"article_id": str(number)})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(append, range(40)))
    lines = [json.loads(line) for line in (tmp_path / "f.jsonl").read_bytes().split(b"\n")[:-1]]
    assert sorted(int(line["article_id"]) for line in lines) == list(range(40))
    assert all("comment" not in line and line["question"] == MARK["question"] for line in lines)


def test_a_mark_that_broke_off_takes_no_other_with_it(tmp_path):
    path = tmp_path / "f.jsonl"
    path.write_bytes(b'{"question": "O')
    for _ in range(2):
        append_mark(path, max_bytes=1000, **MARK)
    broken, *whole = path.read_bytes().splitlines()
    assert broken == b'{"question": "O'
    assert [json.loads(line)["article_id"] for line in whole] == ["H1", "H1"]


def test_the_file_grows_to_its_bound_and_no_further(tmp_path):
    path = tmp_path / "f.jsonl"
    append_mark(path, max_bytes=1000, **MARK)
    size = path.stat().st_size
    append_mark(path, max_bytes=2 * size, **MARK)
    with pytest.raises(FeedbackFullError):
        append_mark(path, max_bytes=3 * size - 1, **MARK)
    assert path.stat().st_size == 2 * size


def test_the_import_reads_what_the_service_writes(tmp_path):
    path = tmp_path / "f.jsonl"
    append_mark(path, max_bytes=1000, **MARK | {"comment": "clear"})
    (mark,) = read_marks(path, {"H1": 0})
    assert (mark.question, mark.article_id, mark.right) == (MARK["question"], "H1", True)
    assert mark.time.year >= 2025


def test_the_check_makes_what_a_mark_would_and_changes_nothing(tmp_path):
    path = tmp_path / "f.jsonl"
    check_writable(path)
    assert [(child.name, child.stat().st_size) for child in tmp_path.iterdir()] == [("f.jsonl", 0)]
    path.write_bytes(b"old")
    check_writable(path)
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("file/f.jsonl", "Not a directory"),
        ("gone/f.jsonl", "No such file or directory"),
        ("pipe", "not a regular file"),
        ("x" * 300, "File name too long"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused(tmp_path, place, reason):
    (tmp_path / "file").write_text("old")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match=rf"^feedback .*{place}: cannot be written \({reason}\)"):
        check_writable(tmp_path / place)
    assert {child.name for child in tmp_path.iterdir()} == {"file", "pipe"}
    assert (tmp_path / "file").read_text() == "old"
