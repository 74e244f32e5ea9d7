import os

import pytest

from statgraph.errors import RunError
from statgraph.runs import folders as runs


@pytest.fixture
def begin(tmp_path):
    """Return a function that makes a run folder under runs/, finished or not, of a given age."""

    def make(name, *, finished, age_s):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        for file_name in ("config.json", "manifest.json")[: 1 + finished]:
            (folder / file_name).write_text("{}")
            os.utime(folder / file_name, (1e9 - age_s, 1e9 - age_s))
        return folder

    return make


def test_newest_run_is_the_one_finished_last(begin, tmp_path):
    begin("b", finished=True, age_s=30)
    newest = begin("a", finished=True, age_s=20)
    begin("c", finished=False, age_s=10)
    assert runs.newest_run(tmp_path / "runs") == newest


def test_of_two_finished_at_once_the_later_name_counts(begin, tmp_path):
    later = begin("2", finished=True, age_s=5)
    begin("1", finished=True, age_s=5)
    assert runs.newest_run(tmp_path / "runs") == later


def test_newest_unfinished_run_is_the_one_begun_last(begin, tmp_path):
    begin("a", finished=True, age_s=1)
    begin("b", finished=False, age_s=30)
    newest = begin("c", finished=False, age_s=20)
    assert runs.newest_unfinished_run(tmp_path / "runs") == newest


@pytest.mark.parametrize("there", [True, False])
def test_no_run_is_told(tmp_path, there):
    folder = tmp_path / "runs"
    if there:
        folder.mkdir()
    with pytest.raises(RunError) as refused:
        runs.newest_run(folder)
    assert str(refused.value) == (
        f"{folder}: holds no finished run; train one with 'statgraph train', or name one with --run"
    )
    with pytest.raises(RunError) as refused:
        runs.newest_unfinished_run(folder)
    assert str(refused.value) == (
        f"{folder}: holds no unfinished run; start one with 'statgraph train', or name one with --out"
    )


def test_new_run_folder_is_not_in_use(tmp_path, monkeypatch):
    class Clock:
        @staticmethod
        def now():
            return Clock()

        def __format__(self, _):
            return "20261121-080000"

    monkeypatch.setattr(runs, "datetime", Clock)
    names = []
    for _ in range(3):
        folder = runs.new_run_folder("valmere", "bm25", tmp_path)
        folder.mkdir()
        names.append(folder.name)
    stem = "20261121-080000-valmere-bm25"
    assert names == [stem, f"{stem}-2", f"{stem}-3"]


@pytest.mark.parametrize(
    ("corpus_name", "folder"),
    [
        ("legi-fr", "legi-fr"),
        ("BGB 2.0_neu", "BGB-2.0_neu"),
        ("法律", "法律"),
        ("a/b\\c", "a-b-c"),
        ("../../etc", "etc"),
        ("..", "corpus"),
        ("", "corpus"),
        ("x" * 300, "x" * 60),
    ],
)
def test_a_corpus_name_becomes_one_folder(corpus_name, folder):
    assert runs.folder_name(corpus_name) == folder
