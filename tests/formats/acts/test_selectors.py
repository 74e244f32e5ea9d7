import pytest
from lxml import etree

from statgraph.formats.acts.selectors import Value, selectors_of

TREE = etree.fromstring(
    '<act xmlns:x="urn:x" nr="7"><group kind="old short"><title>Lamps</title><art x:id="a1"><num>1</num>'
    "<num>Night</num><head/><p class='lead main'>They burn.</p></art></group><art id='a2'><p>Glass</p></art></act>"
)
FIRST, SECOND = TREE.iter("art")


def text_of(element):
    return "".join(element.itertext()).strip()


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("art", [FIRST, SECOND]),
        ("group/art", [FIRST]),
        ("act/group/art", [FIRST]),
        ("art[x:id]", [FIRST, SECOND]),
        ("art[id=a2]", [SECOND]),
        ("art[id!=a2]", [FIRST]),
        ("art[id^=a]", [SECOND]),
        ("art[x:id=a1]", [FIRST]),
        ("group[kind~=short]/art", [FIRST]),
        ("group[kind=short]/art", []),
        ("num, art[id=a2]", [SECOND]),
    ],
)
def test_selectors(selector, expected):
    selectors = selectors_of(selector)
    assert [art for art in (FIRST, SECOND) if any(one.matches(art) for one in selectors)] == expected


def test_a_selector_counts_nothing():
    with pytest.raises(ValueError, match=r"'art\[2\]' names no element"):
        selectors_of("art[2]")


@pytest.mark.parametrize(
    ("alternatives", "expected"),
    [
        (["num"], "1"),
        (["num[2]"], "Night"),
        (["@id"], "a1"),
        (["head", "p"], "They burn."),
        (["../title"], "Lamps"),
        (["^group/@kind"], "old short"),
        (["^group[kind~=old]/@kind"], "old short"),
        (["^group[kind=new]/@kind"], ""),
        (["..[kind~=old]/title"], "Lamps"),
        (["..[kind=new]/title"], ""),
        (["^chapter/@kind"], ""),
        (["../..//p[class~=main]"], "They burn."),
        (["=Art. + num"], "Art. 1"),
        (["=Art. + head", "=none"], "none"),
        (["num ~ \\d + num[2]"], "1 Night"),
        (["p ~ ^(\\w+) burn"], "They"),
        (["p ~ bark"], ""),
        (["p[class=lead main]"], "They burn."),
        ([], ""),
    ],
)
def test_values(alternatives, expected):
    assert Value(*alternatives).text(FIRST, text_of) == expected


def test_a_value_names_the_elements_whose_text_it_is():
    assert Value("=Art. + num + @id").find(FIRST, text_of) == ("Art. 1 a1", [FIRST[0]])
