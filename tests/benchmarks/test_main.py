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
