import subprocess
import sys

import pytest

from statgraph.text.freed_memory import FreedMemory


def test_once_in_so_many_seconds():
    now, given = [100.0], []
    freed = FreedMemory(10.0, trim=lambda: given.append(now[0]), clock=lambda: now[0])
    for now[0] in (100.0, 109.9, 110.0, 111.0, 119.9, 135.0, 144.0, 145.0):
        freed.give_back()
    assert given == [110.0, 135.0, 145.0]


RESIDENT = """
import resource, sys
from statgraph.text.freed_memory import FreedMemory
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
FreedMemory(0.0).give_back()
print(before - kept, before - resident())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and asks glibc")
def test_memory_between_small_things_goes_back():
    done = subprocess.run([sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=True)
    without, given_back = map(float, done.stdout.split())
    # 3,000 pieces of 60 kB are 172 MiB, none of which the end of the heap is free for.
    assert without < 40
    assert given_back > 120
