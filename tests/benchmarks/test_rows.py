import pytest

from benchmarks.rows import Row, not_measured, ratio_text, seconds_text
from benchmarks.side_by_side import Spread


@pytest.mark.parametrize(
    ("text_of", "spread", "text"),
    [
        (ratio_text, Spread(12.34, 11.0, 13.06), "12.3 times [11.0 to 13.1]"),
        (ratio_text, Spread(1234.4, 999.6, 2000.0), "1,234 times [1,000 to 2,000]"),
        (seconds_text, Spread(0.0123, 0.01, 0.02), "12.3 ms [10 to 20]"),
        (seconds_text, Spread(1.234, 1.2, 1.3), "1.23 s [1.2 to 1.3]"),
    ],
)
def test_digits_and_units_follow_the_size(text_of, spread, text):
    assert text_of(spread) == text


def test_what_is_not_measured_neither_holds_nor_fails():
    row = not_measured("a", against="b", asked="c", why="d")
    assert row == Row("a", "b", "c", "not measured", None, {}, "d")
    assert row.to_dict()["holds"] is None
