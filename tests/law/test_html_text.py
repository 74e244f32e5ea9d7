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
    ("html", "text"),
    [
        ("10<sup>6</sup> m<sub>2</sub>", "10⁶ m2"), ("Art. 22<sup><b>1</b></sup>.", "Art. 22¹."),
        ("1<sup>er</sup>", "1er"), ("1<sup>1</sup>/<sub>2</sub> m", "1 1/2 m"), ("a <sup>k", "a ^k"),
        ('bark<sup><a href="#n1">1</a></sup>, <a href="#n2"><sup>2</sup></a>bite', "bark, bite"),
        ('(<a href="#n1"><b><sup>(1)</sup></b></a>), f()', ", f()"),
        ("<sup>1<br></sup>a", "¹\na"), ("<p>a<table><tr><td>b</table>c</p>d", "a\nb\nc\nd"),
        ('22<span style="vertical-align:super">1</span>', "22¹"), ('22<span class="oj-super">1</span>', "22¹"),
        ("<math><mi>x</mi> <mo>=</mo> <mfrac><mn>5</mn><mn>2</mn></mfrac><msup><mi>r</mi><mn>3</mn></msup></math>",
         "x=5/2r³"),
        ("<math>" + "<mrow>" * 1_500 + "x", "x"),
        ("<dl><dt>1.<dd>a</dl><o:p>b</o:p><y>c</y>", "1. a\nbc"),
        ("a&#1;b\x01c\x0cd&#12;e\ud800", "abc d e"), ("<!-- a -->", ""), ("</div>", ""),
        ('<a href="#22_1">Art. 22<sup>1</sup></a>', "Art. 22¹"), ('<a href="/x">10<sup>3</sup></a>', "10³"),
    ],
)  # fmt: skip
def test_text_of_a_fragment(html, text):
    assert plain_text(html) == text


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<p>Lamps", True), ("one<br/>two", True), ('<A href="x">', True), ("a&nbsp;b", True), ("&#167; 1", True),
        ("a < b and c > d", False), ("AT&T; R&D", False), ("x <y> z", False), ("<= 3", False),
    ],
)  # fmt: skip
def test_what_is_html(text, found):
    assert has_html(text) == found
