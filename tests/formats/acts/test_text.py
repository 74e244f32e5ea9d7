import pytest
from lxml import etree

from statgraph.formats.acts.profile import ArticleRules, LeftOutRules, Profile, ProfileSettings, ReferenceRules
from statgraph.formats.acts.text import TextReader, list_mark


def lines_of(xml: str, **keys) -> list[str]:
    left_out = LeftOutRules(notes=("note",))
    settings = ProfileSettings(articles=ArticleRules(elements=("a",)), marks=("m",), leave_out=left_out, **keys)
    text, _ = TextReader(Profile("test", settings)).lines(etree.fromstring(f"<a>{xml}</a>"))
    return text.split("\n") if text else []


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<p> Lamps\n  burn. </p><p>Always.</p>", ["Lamps burn.", "Always."]),
        ("<p>m<sup>2</sup> of glass</p>", ["m² of glass"]),
        ("<p>H<sub>2</sub>O, Art. 5<sup>bis</sup></p>", ["H2O, Art. 5bis"]),
        ("<p><mfrac><mn>5</mn><mn>2</mn></mfrac> of <msup><mi>x</mi><mn>2</mn></msup></p>", ["5/2 of x²"]),
        ("<p>Lam&#xad;ps&#xa0;&#x200b;burn</p>", ["Lamps burn"]),
        ("<p>Lamps<br/>burn</p>", ["Lamps", "burn"]),
        ("<p>before<p>inside</p>after</p>", ["before", "inside", "after"]),
        ("<m>(1)</m><p>No lamp</p>", ["(1) No lamp"]),
        ("<m>(1)</m><p><m>(a)</m><p>No lamp</p></p>", ["(1) (a) No lamp"]),
        ("<p><m>1.</m></p><p><m>2.</m>Two</p>", ["1.", "2. Two"]),
        ("<p><m>(1)</m></p><p><m>(2)</m><p><m>(a)</m>Two</p></p>", ["(1)", "(2) (a) Two"]),
        ("<p>1-bis.</p><p>Lamps</p>", ["1-bis. Lamps"]),
        ("<p>–</p><p>Lamps</p>", ["– Lamps"]),
        ("<p>“Lamps”</p><p>;</p>", ["“Lamps”;"]),
        ("<p>burn<note><p>As amended.</p></note> on</p>", ["burn on"]),
        ("<p>burn<!-- no --> on<?page 2?></p>", ["burn on"]),
        ("<table><tr><td>a</td><td/><td><p>b</p><p>c</p></td></tr><tr><td/></tr></table>", ["a | | b c"]),
        ("<table><tr><td>(a)</td><td><p>one</p><p>two</p></td></tr></table>", ["(a) one", "two"]),
        ("<row><entry>x</entry><entry>y</entry></row>", ["x | y"]),
        ("", []),
    ],
)
def test_lines(xml, expected):
    assert lines_of(xml) == expected


def test_what_a_profile_writes_removes_and_puts_first():
    xml = '<p><q code="201C"/>Lamps<q code="zz"/> ((burn)) <gap/></p><m>a</m><p>and</p><last>Dawn</last>'
    keys = {"write": ("q = U+@code", "gap = ...", "m = (@.)"), "remove": (r"\(\(|\)\)",), "lines": ("last",)}
    assert lines_of(xml, **keys) == ["“Lamps burn ...", "(a) and", "Dawn"]
    assert lines_of(xml, **keys, first=("last",)) == ["Dawn", "“Lamps burn ...", "(a) and"]


def test_references_in_what_is_removed_do_not_count():
    settings = ProfileSettings(
        articles=ArticleRules(elements=("a",)),
        references=ReferenceRules(elements=("ref",), target=("@href",)),
        remove=("Note.*",),
    )
    reader = TextReader(Profile("test", settings))
    element = etree.fromstring(
        '<a><ref href="x">one</ref>, <ref href="x">again</ref>, <ref>bare</ref><p>Note <ref href="y">y</ref></p></a>'
    )
    assert reader.lines(element) == ("one, again, bare", ["x"])
    assert reader.n_references == 4


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("<ol><li/><li/></ol>", "2."),
        ('<ol type="a" start="3"><li/><li/></ol>', "d."),
        ('<ol type="I"><li/><li/></ol>', "II."),
        ('<ol symbol="a)"><li/><li/></ol>', "b)"),
        ('<ol symbol="1°"><li/><li/></ol>', "2°"),
        ('<ol symbol="custom"><li/><li/></ol>', ""),
        ("<ul><li/><li/></ul>", "–"),
        ('<ul symbol="dash"><li/><li/></ul>', "–"),
        ('<OrderedList Type="roman" Decoration="parens"><i/><i/></OrderedList>', "(ii)"),
        ('<OrderedList Type="alpha" Decoration="parens"><i/><i NumberOverride="aa"/></OrderedList>', "(aa)"),
        ('<UnorderedList Decoration="none"><i/><i/></UnorderedList>', ""),
    ],
)
def test_list_marks(xml, expected):
    element = etree.fromstring(xml)
    assert list_mark(element, element[1], 2) == expected


def test_long_lists_have_marks():
    alphabetic, roman = etree.fromstring('<ol type="a"/>'), etree.fromstring('<ol type="i"/>')
    assert [list_mark(alphabetic, alphabetic, n) for n in (26, 27, 53)] == ["z.", "aa.", "ba."]
    assert [list_mark(roman, roman, n) for n in (4, 9, 14, 39)] == ["iv.", "ix.", "xiv.", "xxxix."]
