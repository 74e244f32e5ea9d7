import errno
import fcntl
import re
import subprocess
import sys
from pathlib import Path

import pytest

from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.errors import RunError
from statgraph.runs.claiming import claim, claimed, give_back
from statgraph.settings import with_settings

REPO = Path(__file__).parents[2]
CORPUS = Corpus("town", "en", "CC0", "written for the tests", (), ())
CONFIG = RunConfig()


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


@pytest.mark.parametrize(("stage", "weight", "used"), [("stage1", 1, False), ("stage2", 0, False), ("stage2", 1, True)])
def test_synthetic_questions_are_used_by_the_stage_that_draws_them(begun, stage, weight, used):
    claim(begun, CORPUS, with_settings(CONFIG, [f"stage2.synthetic={weight}"]), resume=True)
    (begun / "checkpoints" / stage).mkdir(parents=True)
    changed = with_settings(CONFIG, [f"stage2.synthetic={weight}", "augment.file=other.csv"])
    if used:
        with pytest.raises(RunError, match=r"augment\.file"):
            claim(begun, CORPUS, changed, resume=True)
    else:
        claim(begun, CORPUS, changed, resume=True)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"config": 1, "corpus_hash": "a"}', b"\xff"])
def test_a_damaged_configuration_is_refused(begun, content):
    (begun / "config.json").write_bytes(content)
    with pytest.raises(RunError, match=r"config\.json: damaged"):
        claim(begun, CORPUS, CONFIG, resume=True)


def test_a_folder_in_use_is_left_alone(begun, tmp_path):
    refused(begun, "not empty; add --resume", resume=False)
    (begun / "manifest.json").write_text("{}")
    refused(begun, "not empty; choose another --out", resume=False)
    notes = tmp_path / "mine" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    refused(notes.parent, "not empty; choose another --out", resume=False)
    refused(notes, "is a file", resume=False)
    assert notes.read_text() == "mine"


def test_a_folder_without_work_is_given_back(begun, tmp_path):
    (begun / "articles.jsonl").write_text("")
    (begun / "notes.txt").write_text("mine")
    give_back(begun)
    assert [path.name for path in begun.iterdir()] == ["notes.txt"]
    (begun / "notes.txt").unlink()
    claim(begun, CORPUS, CONFIG, resume=False)  # an empty folder is taken
    give_back(begun)
    assert list(tmp_path.iterdir()) == []


HELD = """
import sys, time
from pathlib import Path
from statgraph.config import RunConfig
from statgraph.corpus.records import Corpus
from statgraph.runs.claiming import claimed
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


def test_a_folder_is_free_after_its_training(tmp_path):
    claim_and_release(tmp_path / "run", resume=False)
    claim_and_release(tmp_path / "run")
    with pytest.raises(RunError, match="no run to resume"):
        claim_and_release(tmp_path / "gone")
    assert not (tmp_path / "gone").exists()


def test_a_disk_without_locks_is_trained_on(tmp_path, monkeypatch):
    def no_locks(descriptor, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    claim_and_release(tmp_path / "run", resume=False)
    assert (tmp_path / "run" / "config.json").is_file()


@pytest.mark.parametrize("work", ["checkpoints", "synthetic.jsonl", "synthetic.jsonl.partial"])
def test_a_folder_with_work_is_kept(begun, work):
    (begun / work).mkdir()
    give_back(begun)
    assert sorted(path.name for path in begun.iterdir()) == sorted(["config.json", work])
