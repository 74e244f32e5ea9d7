import subprocess
import sys
from pathlib import Path

import pytest

from statgraph import memory

RESIDENT = """
import resource, sys
from statgraph.memory import give_back
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 2**20
held = []
large = []
for _ in range(3000):
    large.append(bytearray(b"x") * 60_000)
    held.append(bytearray(600))
before = resident()
del large
kept = resident()
give_back()
print(before - kept, before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_memory_between_small_things_goes_back():
    done = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=True)
    without, given_back = map(float, done.stdout.split())
    # 3,000 pieces of 60 kB are 172 MiB, none of which the end of the heap is free for.
    assert without < 40
    assert given_back > 120


# Pages are counted as they are written to: large arrays made and freed in turn, then memory after the block.
FAULTS = """
import resource, sys
import numpy as np
from statgraph.memory import kept_memory
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
    thresholds_set = []
    monkeypatch.setattr(memory, "_set", lambda thresholds: thresholds_set.append(thresholds) or True)
    with pytest.raises(ValueError, match="within"), memory.kept_memory():
        raise ValueError("within")
    assert thresholds_set == [memory._KEPT, memory._USUAL]


def test_peak_memory_does_not_begin_with_that_of_the_process_that_started_this_one():
    if not Path("/proc/self/status").is_file():
        pytest.skip("only Linux tells a process's own peak")
    grown = bytearray(300 * 2**20)
    code = "from statgraph.memory import peak_memory_mib; print(peak_memory_mib())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(grown) // 2**20 > int(done.stdout)
