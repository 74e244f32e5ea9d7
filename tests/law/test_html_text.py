import pytest

from statgraph.law.html_text import has_html, plain_text


def test_plain_text_has_a_line_for_each_paragraph_and_table_row():
    html = (
        "<p>Le vélo\n a <b>deux</b>&nbsp;roues.</p><p></p>I.-Sauf&#160;:<br/>1° le mono&shy;cycle"
        "<table><tr><td>n</td><td>n < 3</td></tr><tr><th>m</th></tr></table>"
    )
    assert plain_text(html).split("\n") == ["Le vélo a deux roues.", "I.-Sauf :", "1° le mono\xadcycle", "n n < 3", "m"]


def test_scripts_and_styles_are_no_text():
    assert plain_text("<style>p {}</style>One<script>alert(1)</script> two") == "One two"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<p>Lamps", True), ("one<br/>two", True), ('<A href="x">', True), ("a&nbsp;b", True), ("&#167; 1", True),
        ("a < b and c > d", False), ("AT&T; R&D", False), ("x <y> z", False), ("<= 3", False),
    ],
)  # fmt: skip
def test_what_is_html(text, found):
    assert has_html(text) == found
