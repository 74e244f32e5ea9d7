import os
import sys

from click.testing import CliRunner

from benchmarks.gpu_hour import main, work_off


def python(code):
    return sys.executable, "-S", "-c", code


def test_items_have_a_log_each_and_the_time_limit_interrupts(tmp_path, capsys):
    commands = {"first": python("print('measured')"), "second": python("raise SystemExit(3)")}
    assert work_off(commands, tmp_path, seconds=60, env=os.environ) == 1
    assert (tmp_path / "first.log").read_text() == "measured\n"
    long = python("import time; print('begun', flush=True); time.sleep(60)")
    assert work_off({"long": long, "next": python("")}, tmp_path, seconds=0.5, env=os.environ) == 0
    assert (tmp_path / "long.log").read_text() == "begun\n"
    said = capsys.readouterr().out
    assert "first: done" in said
    assert "second: failed" in said
    assert "long: interrupted" in said
    assert "next: no time left" in said


def test_a_machine_without_cuda_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    refused = CliRunner().invoke(main, [])
    assert refused.exit_code == 1
    assert refused.stderr.startswith("Error: torch ")
    assert refused.stderr.endswith("or rehearse with: make gpu DRY=1\n")
