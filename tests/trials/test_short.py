"""The short form of `make trial`: a few cases of each campaign, in a process of its own, from which they fork."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.trials.__main__ import SHORT

REPO = Path(__file__).parents[2]


@pytest.mark.real
def test_no_short_campaign_fails():
    command = [sys.executable, "-m", "tests.trials", "--short"]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|") for line in done.stdout.splitlines()[2:]]
    assert [(row[1].strip(), int(row[2]), int(row[3])) for row in rows] == [
        (name.replace("disks", "full disks"), cases, 0) for name, (cases, _) in SHORT.items()
    ]
