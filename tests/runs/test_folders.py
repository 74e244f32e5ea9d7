import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from statgraph.config import RunConfig
from statgraph.errors import RunError
from statgraph.law.records import Corpus
from statgraph.runs import folders as runs
from statgraph.runs.folders import changed_run, claim, claimed, unclaim
from statgraph.settings import with_settings

REPO = Path(__file__).parents[2]
CORPUS = Corpus("town", "en", "CC0", "written for the tests", (), ())
CONFIG = RunConfig()


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


def test_newest_run_is_the_one_finished_last_or_of_two_at_once_the_later_name(begin, tmp_path):
    begin("b", finished=True, age_s=30)
    newest = begin("a2", finished=True, age_s=20)
    begin("a1", finished=True, age_s=20)
    begin("c", finished=False, age_s=10)
    assert runs.newest_run(tmp_path / "runs") == newest


def test_a_run_that_ends_after_the_clock_was_put_back_is_the_newest(begin, tmp_path):
    begin("old", finished=True, age_s=-5e9)
    newest = begin("new", finished=True, age_s=0)
    for name in ("config.json", "manifest.json"):
        runs.newest_of_its_name(newest / name)
    assert runs.newest_run(tmp_path / "runs") == newest


@pytest.mark.parametrize("there", [True, False])
def test_no_run_is_told(tmp_path, there):
    folder = tmp_path / "runs"
    if there:
        folder.mkdir()
    with pytest.raises(RunError, match="no finished run"):
        runs.newest_run(folder)
    with pytest.raises(RunError, match="no unfinished run"):
        runs.newest_unfinished_run(folder)


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


@pytest.fixture
def run(tmp_path):
    """Return a folder with two files, a folder and a link to it."""
    run = tmp_path / "run"
    (run / "encoder").mkdir(parents=True)
    (run / "checkpoints").mkdir()
    (run / "encoder" / "weights").write_text("w")
    (run / "manifest.json").write_text("old")
    (run / "notes.txt").write_text("mine")
    (run / "linked").symlink_to(run / "encoder")
    return run


def files(folder) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_in_place_what_stays_is_linked_and_what_is_written_is_new(run, tmp_path):
    inode = (run / "encoder" / "weights").stat().st_ino
    with changed_run(run, None, without=["manifest.json"]) as folder:
        assert files(folder) == ["checkpoints", "encoder", "linked", "notes.txt"]
        (folder / "manifest.json").write_text("new")
        assert (run / "manifest.json").read_text() == "old"
    assert (run / "manifest.json").read_text() == "new"
    assert (run / "encoder" / "weights").stat().st_ino == inode
    assert (run / "linked").is_symlink()
    assert files(tmp_path) == ["run"]


def test_two_changes_of_one_run_at_once_are_one(run):
    with changed_run(run, None, without=["manifest.json"]) as folder:
        with pytest.raises(RunError, match="another process"), changed_run(run, None, without=[]):
            pass
        (folder / "manifest.json").write_text("new")
    assert (run / "manifest.json").read_text() == "new"


def test_another_folder_shares_nothing_with_the_run(run, tmp_path):
    out = tmp_path / "deep" / "out"
    run.chmod(0o555)  # somebody else's
    with changed_run(run, out, without=["manifest.json"]) as folder:
        (folder / "manifest.json").write_text("new")
    assert files(out) == ["encoder", "linked", "manifest.json", "notes.txt"]
    assert out.stat().st_mode & 0o200
    (out / "encoder" / "weights").write_text("changed")
    (out / "linked" / "weights").write_text("changed")
    assert (run / "encoder" / "weights").read_text() == "w"
    assert (run / "manifest.json").read_text() == "old"


def test_another_folder_shares_large_files_but_not_those_that_grow(run, tmp_path):
    for name in ("model.safetensors", "feedback.jsonl"):
        (run / "encoder" / name).write_bytes(bytes(2**20))
    with changed_run(run, tmp_path / "out", without=[]):
        pass
    for folder in ("encoder", "linked"):
        copies = tmp_path / "out" / folder
        assert (copies / "model.safetensors").samefile(run / "encoder" / "model.safetensors")
        assert not (copies / "feedback.jsonl").samefile(run / "encoder" / "feedback.jsonl")


@pytest.fixture
def begun(tmp_path):
    """Return a folder that was claimed for CONFIG and CORPUS."""
    claim(tmp_path / "begun", CORPUS, CONFIG, resume=False)
    return tmp_path / "begun"


def refused(folder, said, *settings, corpus=CORPUS, resume=True) -> None:
    with pytest.raises(RunError, match=rf"^{re.escape(str(folder))}: {said}"):
        claim(folder, corpus, with_settings(CONFIG, settings), resume=resume)


def test_other_settings_are_refused_and_five_of_many_named(begun):
    (begun / "checkpoints" / "stage2").mkdir(parents=True)
    refused(begun, r"was started with other settings \(seed: 0 then, 4 now\)", "seed=4")
    others = [f"gnn.{name}" for name in ("layers=1", "heads=1", "dropout=0.7", "fanout=3")]
    said = r".*settings \(encoder.chunk_tokens: 128 then, 9 now; enc.*; and 2 more\)"
    refused(begun, said, *others, "encoder.max_tokens=9", "encoder.chunk_tokens=9", "seed=4")


@pytest.mark.parametrize(
    ("left", "setting", "used"),
    [
        ("checkpoints/stage2", "gnn.fanout=3", True),
        ("checkpoints/stage2", "bm25.k1=1", False),  # no stage draws negatives
        ("checkpoints/stage2", "negatives.depth=9", False),
        ("checkpoints/stage2", "pretrain.steps=3", False),
        ("checkpoints/stage1", "gnn.fanout=3", False),
        ("checkpoints/stage1", "graph.relations=tree", False),
        ("checkpoints/stage1", "stage2.negatives=bm25", False),
        ("checkpoints/stage1", "stage1.lr=0.5", True),
        ("checkpoints/stage1", "encoder.max_tokens=9", True),
        ("checkpoints/stage1", "seed=4", True),
        ("synthetic.jsonl", "augment.per_article=9", True),
        ("synthetic.jsonl.partial", "bm25.expansion=9", True),
        ("synthetic.jsonl.partial", "bm25.k1=1", False),
        (None, "encoder.max_tokens=9", False),
        (None, "seed=4", False),
    ],
)
def test_settings_that_no_work_has_used_can_change(begun, left, setting, used):
    """`left` is the last work that was saved."""
    config = with_settings(CONFIG, ["stage1.negatives=none", "stage2.negatives=none"])
    claim(begun, CORPUS, config, resume=True)
    if left:
        (begun / left).mkdir(parents=True)
    before = (begun / "config.json").read_text()
    changed = with_settings(config, [setting])
    if used:
        with pytest.raises(RunError, match=setting.partition("=")[0]):
            claim(begun, CORPUS, changed, resume=True)
    else:
        claim(begun, CORPUS, changed, resume=True)
    assert ((begun / "config.json").read_text() == before) == used


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"config": 1, "corpus_hash": "a"}', b"\xff"])
def test_a_damaged_configuration_is_refused(begun, content):
    (begun / "config.json").write_bytes(content)
    with pytest.raises(RunError, match=r"config\.json: not readable .*train into another folder"):
        claim(begun, CORPUS, CONFIG, resume=True)


def test_a_folder_in_use_is_left_alone(begun, tmp_path):
    refused(begun, "not empty; add resume", resume=False)
    (begun / "manifest.json").write_text("{}")
    refused(begun, "not empty; choose another out", resume=False)
    notes = tmp_path / "mine" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    refused(notes.parent, "not empty; choose another out", resume=False)
    refused(notes, "is a file", resume=False)
    assert notes.read_text() == "mine"


def test_a_folder_without_work_is_given_back(begun, tmp_path):
    (begun / "articles.jsonl").write_text("")
    (begun / "notes.txt").write_text("mine")
    unclaim(begun, CONFIG)
    assert [path.name for path in begun.iterdir()] == ["notes.txt"]
    (begun / "notes.txt").unlink()
    claim(begun, CORPUS, CONFIG, resume=False)  # an empty folder is taken
    unclaim(begun, CONFIG)
    assert list(tmp_path.iterdir()) == []


HELD = """
import sys, time
from pathlib import Path
from statgraph.config import RunConfig
from statgraph.law.records import Corpus
from statgraph.runs.folders import claimed
corpus = Corpus("town", "en", "CC0", "written for the tests", (), ())
with claimed(Path(sys.argv[1]), corpus, RunConfig(), resume=False):
    print("held", flush=True)
    time.sleep(60)
"""


def claim_and_release(folder, *, resume=True) -> None:
    with claimed(folder, CORPUS, CONFIG, resume=resume):
        pass


def test_a_folder_is_held_by_one_process_until_it_ends_however_it_ends(tmp_path):
    folder = tmp_path / "run"
    with subprocess.Popen([sys.executable, "-c", HELD, str(folder)], stdout=subprocess.PIPE, cwd=REPO) as holder:
        assert holder.stdout.readline() == b"held\n"
        for resume in (True, False):
            with pytest.raises(RunError, match="another process"):
                claim_and_release(folder, resume=resume)
        holder.kill()
    assert [path.name for path in folder.iterdir()] == ["config.json"]
    claim_and_release(folder)  # the lock ended with its process


@pytest.mark.parametrize("resume", [True, False])
def test_what_a_kill_left_in_the_folder_goes(tmp_path, resume):
    if resume:
        claim(tmp_path / "run", CORPUS, CONFIG, resume=False)
    for name in (".config.json-0123abcd", "checkpoints/stage1/.last-89abcdef"):
        (tmp_path / "run" / name).mkdir(parents=True)
    if not resume:
        (tmp_path / "run" / "checkpoints" / "stage1" / ".last-89abcdef").rmdir()
        (tmp_path / "run" / "checkpoints" / "stage1").rmdir()
        (tmp_path / "run" / "checkpoints").rmdir()
    claim_and_release(tmp_path / "run", resume=resume)
    assert list((tmp_path / "run").rglob(".*")) == []


@pytest.mark.parametrize("work", ["checkpoints", "synthetic.jsonl", "synthetic.jsonl.partial"])
def test_a_folder_with_work_is_kept(begun, work):
    (begun / work).mkdir()
    unclaim(begun, CONFIG)
    assert sorted(path.name for path in begun.iterdir()) == sorted(["config.json", work])
