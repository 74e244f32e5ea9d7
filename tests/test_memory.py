import subprocess
import sys
from pathlib import Path

import pytest

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


def test_peak_memory_does_not_begin_with_that_of_the_process_that_started_this_one():
    if not Path("/proc/self/status").is_file():
        pytest.skip("only Linux tells a process's own peak")
    grown = bytearray(300 * 2**20)
    code = "from statgraph.memory import peak_memory_mib; print(peak_memory_mib())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(grown) // 2**20 > int(done.stdout)
