import pytest

from benchmarks.measuring import Spread, peak_of, taking_turns, times_faster


def test_rivals_take_turns_after_a_round_that_is_not_timed():
    heard = []
    works = {name: lambda case, name=name: heard.append(f"{name}{case}") for name in "ab"}
    seconds = taking_turns(works, [1, 2])
    assert heard == ["a1", "b1", "a1", "b1", "a2", "b2"]
    assert {name: len(values) for name, values in seconds.items()} == {"a": 2, "b": 2}


def test_ratios_are_of_a_round_each():
    assert times_faster([1.0, 2.0, 4.0], [10.0, 10.0, 10.0]) == Spread(5.0, 2.5, 10.0)


def test_a_command_has_the_memory_of_its_own_process():
    seconds, peak_mib = peak_of(["--help"])
    assert seconds > 0
    assert 5 < peak_mib < 100
    with pytest.raises(RuntimeError, match="no-such"):
        peak_of(["no-such"])
