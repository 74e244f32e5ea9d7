"""Numbers of articles in comparable form."""

import pytest

from statgraph.law.citations.numbers import article_number


@pytest.mark.parametrize(
    ("written", "key"),
    [
        (("R. *123-4 A", "R123-4A", "R. 123-4 A"), "R123-4A"),
        (("22¹", "22^1"), "22^1"),
        (("221",), "221"),
        (("270-bis", "270 bis", "270‑bis", "270 BIS"), "270BIS"),
        (("44 sexies-0 A", "44 sexies‐0 A"), "44SEXIES-0A"),
        (("1.401(k)-1",), "1.401(K)-1"),
        (("第 190 條", "第190条", "第一百九十条", "第百九十条", "第１９０條", "190條"), "190"),
        (("第190条之一", "第一百九十條之一", "第190-1條", "第190条の1", "第百九十条の一"), "190-1"),
        (("第三十八条の三の二",), "38-3-2"),
        (("第190条第2款",), "第190条第2款"),
    ],
)
def test_one_number_has_one_form(written, key):
    assert {article_number(number) for number in written} == {key}
