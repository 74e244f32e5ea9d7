import os
import sys

import pytest

from benchmarks.gpu_hour import check_machine, main, work_off
from statgraph.artifacts import read_json
from statgraph.errors import UsageError


def python(code):
    return sys.executable, "-S", "-c", code


def test_finished_items_are_not_run_again_and_the_time_limit_interrupts(tmp_path, capsys):
    commands = {"first": python("print('measured')"), "second": python("raise SystemExit(3)")}
    assert work_off(commands, tmp_path, seconds=60, env=os.environ) == 1
    assert read_json(tmp_path / "first.json")["output"] == ["measured"]
    long = python("import time; print('begun', flush=True); time.sleep(60)")
    commands = {"first": python("raise SystemExit(3)"), "long": long, "next": python("")}
    assert work_off(commands, tmp_path, seconds=0.5, env=os.environ) == 0
    assert (tmp_path / "long.log").read_text() == "begun\n"
    said = capsys.readouterr().out
    assert "first: done before" in said
    assert "long: interrupted" in said
    assert "next: no time left" in said


def test_a_machine_without_cuda_is_refused_in_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(UsageError, match="make gpu DRY=1"):
        check_machine(tmp_path, "embedded:multilingual-e5-small")
    assert main([]) == 1
    assert capsys.readouterr().err.startswith("Error: torch ")
