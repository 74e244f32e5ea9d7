import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.registry import MEASURES

REPO = Path(__file__).parents[2]


def test_every_measure_is_a_module():
    assert all((REPO / f"{module.replace('.', '/')}.py").is_file() for module in MEASURES.values())


@pytest.mark.parametrize(("arguments", "status"), [(["no-such"], 2), (["--help"], 0)])
def test_names_are_checked(arguments, status):
    done = subprocess.run([sys.executable, "-m", "benchmarks", *arguments], cwd=REPO, capture_output=True, text=True)
    assert done.returncode == status
    said = done.stdout + done.stderr
    assert all(name in said for name in MEASURES)
    assert "Traceback" not in said


def test_a_folder_that_is_not_there_is_one_line():
    command = [sys.executable, "-m", "benchmarks", "loading", "--corpus", "nowhere", "--quick"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "Error: nowhere: no such corpus folder; make one with 'statgraph import' or 'statgraph fetch'",
        "failed: loading",
    ]
