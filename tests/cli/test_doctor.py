import json
import sys

import pytest

from statgraph.doctor import EXTRAS

PARTS = ["Python", "torch", "CUDA", "DGL", "FAISS", "sentence-transformers", "embedded encoder", "npm"]
PARTS += [f"extra {name}" for name in EXTRAS]


def test_a_line_for_each_part_and_exit_0(run_here):
    done = run_here("doctor")

    assert (done.returncode, done.stderr) == (0, "")
    lines = [line for line in done.stdout.splitlines() if not line.startswith("      -> ")]
    assert [line[6:28].rstrip() for line in lines[:-1]] == PARTS
    assert lines[-1] == "All required parts work."


@pytest.fixture
def break_faiss(tmp_path, monkeypatch):
    """Return a function that puts a FAISS in place whose import raises an error."""

    def write(error):
        (tmp_path / "faiss.py").write_text(f"raise {error!r}\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "faiss", raising=False)

    return write


def test_a_broken_part_does_not_stop_the_others_and_exit_1(run_here, break_faiss):
    break_faiss(ImportError("libfaiss.so: not found\nmore"))

    done = run_here("doctor", "--json")

    assert (done.returncode, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert report["ok"] is False
    assert [check["name"] for check in report["checks"]] == PARTS
    failed = [check for check in report["checks"] if check["required"] and not check["ok"]]
    assert [(check["name"], check["detail"]) for check in failed] == [("FAISS", "ImportError: libfaiss.so: not found")]
    assert failed[0]["remedy"].startswith("pip uninstall -y faiss-cpu && pip install ")


def test_a_broken_part_is_shown_with_what_to_do(run_here, break_faiss):
    break_faiss(RuntimeError("no such instruction"))

    done = run_here("doctor")

    assert done.returncode == 1
    lines = done.stdout.splitlines()
    row = next(number for number, line in enumerate(lines) if line.startswith("FAIL  FAISS"))
    assert lines[row].endswith("RuntimeError: no such instruction")
    assert lines[row + 1].startswith("      -> pip install ")
    assert lines[-1] == "A required part does not work; see above."
