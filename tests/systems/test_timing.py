import subprocess
import sys
import time
from pathlib import Path

import pytest

from statgraph.systems.timing import StepClock, peak_memory_mib


def test_steps_are_kept_in_order_with_time_and_memory():
    clock = StepClock()
    with clock.step("first"):
        time.sleep(0.02)
    with clock.step("second"):
        pass
    first, second = clock.to_list()
    assert list(first) == ["name", "seconds", "peak_mib"]
    assert (first["name"], second["name"]) == ("first", "second")
    assert 0.02 <= first["seconds"] < 5
    assert 0 <= second["seconds"] < first["seconds"]
    assert first["peak_mib"] <= second["peak_mib"]


def test_a_step_that_fails_is_not_counted():
    clock = StepClock()
    with pytest.raises(ValueError, match="broken"), clock.step("first"):
        raise ValueError("broken")
    assert clock.to_list() == []


def test_peak_memory_is_that_of_a_python_process():
    assert 10 < peak_memory_mib() < 1_000_000


def test_peak_memory_does_not_begin_with_that_of_the_process_that_started_this_one():
    if not Path("/proc/self/status").is_file():
        pytest.skip("only Linux tells a process's own peak")
    grown = bytearray(300 * 2**20)
    code = "from statgraph.systems.timing import peak_memory_mib; print(peak_memory_mib())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert len(grown) // 2**20 > int(done.stdout)
