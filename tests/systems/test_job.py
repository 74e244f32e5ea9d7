import time

from statgraph.systems.job import StepClock


def test_steps_are_kept_in_order_with_time_and_memory():
    clock = StepClock()
    with clock.step("first"):
        time.sleep(0.02)
    with clock.step("second"):
        pass
    first, second = clock.steps
    assert list(first) == ["name", "seconds", "peak_mib"]
    assert (first["name"], second["name"]) == ("first", "second")
    assert 0.02 <= first["seconds"] < 5
    assert 0 <= second["seconds"] < first["seconds"]
    assert first["peak_mib"] <= second["peak_mib"]
