import pytest

from statgraph.law.raised import fraction, raised, with_plain_fractions


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1", "¹"), ("6", "⁶"), ("-1", "⁻¹"), ("\u22121", "⁻¹"), ("n+1", "ⁿ⁺¹"), ("(2)", "⁽²⁾"), (" 10 ", " ¹⁰ "),
        ("1, 2", "¹, ²"), ("er", "er"), ("e", "e"), ("bis", "bis"), ("mes.", "mes."), ("o", "º"), ("a", "a"),
        ("ª", "ª"), ("k", "^k"), ("1/2", "^1/2"), ("a)", "^a)"), ("", ""), (" ", " "), ("*", "*"), ("一", "^一"),
    ],
)  # fmt: skip
def test_superscripts(text, written):
    assert raised(text) == written


@pytest.mark.parametrize(
    ("above", "below", "written"),
    [("5", "2", "5/2"), (" 2,5 ", "x", "2,5/x"), ("a + b", "2", "(a + b)/2"), ("1", "5/2", "1/(5/2)")],
)
def test_fractions(above, below, written):
    assert fraction(above, below) == written


@pytest.mark.parametrize(
    ("html", "plain"),
    [
        ("1<sup>1</sup>/<sub>2</sub> m", "1 1/2 m"), ("<sup>3</sup>&frasl;<sub>4</sub>", "3/4"),
        ("m<sup>2</sup>/2", "m<sup>2</sup>/2"),
    ],
)  # fmt: skip
def test_fractions_of_a_raised_and_a_lowered_number(html, plain):
    assert with_plain_fractions(html) == plain
