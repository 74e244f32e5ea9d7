from benchmarks.rows import Spread, taking_turns, times_faster


def test_rivals_take_turns_after_a_round_that_is_not_timed():
    heard = []
    seconds = taking_turns({"a": lambda: heard.append("a"), "b": lambda: heard.append("b")}, rounds=2)
    assert heard == ["a", "b", "a", "b", "a", "b"]
    assert {name: len(values) for name, values in seconds.items()} == {"a": 2, "b": 2}
    assert all(value >= 0 for values in seconds.values() for value in values)


def test_ratios_are_of_a_round_each():
    assert times_faster([1.0, 2.0, 4.0], [10.0, 10.0, 10.0]) == Spread(5.0, 2.5, 10.0)
