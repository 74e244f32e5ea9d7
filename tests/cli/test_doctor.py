import json
import re
import sys
from dataclasses import replace
from functools import partial

import pytest

from statgraph import doctor
from statgraph.cache import cache_in, cached
from statgraph.doctor import Check, run_checks
from statgraph.extras import EXTRAS

PARTS = ["Python", "torch", "CUDA", "DGL", "FAISS", "sentence-transformers", "npm"]
PARTS += [f"extra {name}" for name in EXTRAS]


def test_a_line_for_each_part_and_exit_0(ran):
    done = ran("doctor")
    lines = [line for line in done.splitlines() if not line.startswith("      -> ")]
    assert [line[6:31].rstrip() for line in lines[:-2]] == PARTS
    assert re.fullmatch(r"Cache: .*, [\d,]+\.\d MB; see 'statgraph cache'", lines[-2])
    assert lines[-1] == "All required parts work."


@pytest.fixture
def break_faiss(tmp_path, monkeypatch):
    """Return a function that puts a FAISS in place whose import raises an error."""

    def write(error):
        (tmp_path / "faiss.py").write_text(f"raise {error!r}\n")
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "faiss", raising=False)

    return write


@pytest.fixture
def slow_parts_work(monkeypatch):
    """Let what takes seconds to try work at once; the test above tries it."""
    slow = ("sentence-transformers", "npm")
    parts = [
        replace(part, try_out=partial(Check, part.name, "1", True, "works")) if part.name in slow else part
        for part in doctor.PARTS
    ]
    monkeypatch.setattr("statgraph.cli.doctor.run_checks", partial(run_checks, parts))


@pytest.mark.usefixtures("slow_parts_work")
def test_a_broken_part_does_not_stop_the_others_and_exit_1(run_here, break_faiss):
    break_faiss(ImportError("libfaiss.so: not found\nmore"))

    done = run_here("doctor", "--json")

    assert (done.returncode, done.stderr) == (1, "")
    report = json.loads(done.stdout)
    assert report["ok"] is False
    assert set(report["cache"]) == {"folder", "kinds"}
    assert [check["name"] for check in report["checks"]] == PARTS
    failed = [check for check in report["checks"] if check["required"] and not check["ok"]]
    assert [(check["name"], check["detail"]) for check in failed] == [("FAISS", "ImportError: libfaiss.so: not found")]
    assert failed[0]["remedy"].startswith("pip uninstall -y faiss-cpu && pip install ")


@pytest.fixture
def small_cache(tmp_path):
    """A cache of two models of 1.5 MB each, and an untrained run of 0.2 MB."""
    with cache_in(tmp_path / "cache"):
        for kind, name, size in (("models", "a", 1_500_000), ("models", "b", 1_500_000), ("untrained", "c", 200_000)):
            cached(kind, name, lambda folder, size=size: (folder / "x").write_bytes(b"0" * size))
        yield tmp_path / "cache"


def test_the_cache_is_listed_and_emptied(run_here, small_cache):
    assert run_here("cache").stdout.splitlines() == [
        "models            2        3.0 MB",
        "untrained         1        0.2 MB",
        f"{small_cache}: 3.2 MB",
    ]
    kinds = [
        {"kind": "models", "entries": 2, "n_bytes": 3_000_000},
        {"kind": "untrained", "entries": 1, "n_bytes": 200_000},
    ]
    assert json.loads(run_here("cache", "--json").stdout) == {"folder": str(small_cache), "kinds": kinds}
    assert run_here("cache", "clear", "models").stdout == f"Removed models from {small_cache}: 3.0 MB\n"
    assert run_here("cache", "clear").stdout == f"Removed untrained from {small_cache}: 0.2 MB\n"
    assert run_here("cache").stdout == f"{small_cache}: empty\n"
    assert run_here("cache", "clear").stdout == f"Removed nothing from {small_cache}: 0.0 MB\n"


def test_an_unknown_kind_of_cached_things_is_refused(refused, small_cache):
    assert refused("cache", "clear", "modles", code=2) == (
        "unknown kind of cached things 'modles'; choose from models, untrained"
    )
