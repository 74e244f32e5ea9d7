import subprocess
import sys

import pytest

from statgraph.training import kept_memory

# Pages are counted as they are written to: large arrays made and freed in turn, then memory after the block.
FAULTS = """
import resource, sys
import numpy as np
from statgraph.training.kept_memory import kept_memory
def faults_of_ten():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        np.zeros(12_000_000).fill(1)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def resident_mib():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
before = faults_of_ten()
with kept_memory():
    faults_of_ten()
    within, resident = faults_of_ten(), resident_mib()
print(before, within, resident - resident_mib(), faults_of_ten())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_large_arrays_are_fetched_once_and_go_back_at_the_end():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    before, within, given_back, after = map(float, done.stdout.split())
    assert within < before / 4
    assert given_back > 80  # of the last one's 92 MiB
    assert after > 4 * within


def test_an_error_is_passed_on_and_the_usual_comes_back(monkeypatch):
    told = []
    monkeypatch.setattr(kept_memory, "_set", lambda thresholds: told.append(thresholds) or True)
    with pytest.raises(ValueError, match="within"), kept_memory.kept_memory():
        raise ValueError("within")
    assert told == [kept_memory._KEPT, kept_memory._USUAL]


def test_without_glibc_nothing_happens(monkeypatch):
    monkeypatch.setattr(kept_memory.ctypes, "CDLL", lambda name: object())
    with kept_memory.kept_memory():
        pass
