from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

from statgraph.errors import CorpusError
from statgraph.formats.acts.profile import Profile, ProfileSettings
from statgraph.formats.acts.reader import ActReader
from statgraph.law.account import Account
from statgraph.settings import overlaid

AKN = (Path(__file__).parent / "made_up" / "akn.xml").read_text(encoding="utf-8")


def test_headings_have_the_lines_on_which_they_begin(read_act):
    read = read_act(AKN, "akn")
    assert read.headings == [(5, "Chapter 1 General"), (10, "Chapter 2 Duties"), (10, "Owners"), (14, "Annex")]
    assert [one.line for one in read.articles] == [6, 11, 14]


LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(
    ("hostile", "keyword"),
    [
        (f'<!DOCTYPE a [<!ENTITY a "{"ha" * 50}">{LAUGHS}]><act>&i;</act>', "amplification"),
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><act>&e;</act>', "'&e;' has no text in this file"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><act>&nbsp;</act>', "expand it first, such as with xmllint"),
        ("<p>" * 3000 + "</p>" * 3000, "depth"),
        (AKN[: len(AKN) // 2], "act.xml:"),
        (AKN.replace("body>", "x:body>"), "Namespace prefix x"),
        (AKN.encode("utf-16")[2:], "act.xml"),
        ('<?xml version="1.0" encoding="utf-8"?><act>\xe9t\xe9</act>'.encode("latin-1"), "act.xml:1"),
        (b"\x00\x01\x02", "act.xml"),
        (b"", "act.xml"),
    ],
)
def test_hostile_and_broken_files_are_refused_in_one_line(read_act, hostile, keyword):
    with pytest.raises(CorpusError) as caught:
        read_act(hostile, "akn")
    assert keyword in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_external_dtd_is_not_loaded(read_act):
    """Nothing listens on that port: loading it would fail."""
    assert len(read_act(f'<!DOCTYPE akomaNtoso SYSTEM "http://127.0.0.1:9/a.dtd">{AKN}', "akn").articles) == 3


def profile(**keys) -> Profile:
    return Profile("test", overlaid(ProfileSettings(), keys, place="test"))


FLAT = """<html><body><p class="law">Lamp Act</p><p class="h1">Title I</p><p class="t">Light</p>
<p class="h2">Chapter 1</p>
<p class="art">Article 1</p><p class="rub">Burning</p><p>Lamps burn.<p>At night.
<div><p class="art">Article 2</p><p>Glass &eacute; &amp; tin.</p></div>
<P class="h1">Title II</P><p class="art x">Article 3</p>
<p>The end<table><tr><td>a</td><td>1</td></tr></table></body></html>"""


def test_articles_and_headings_without_containers(read_act):
    """As in tag soup: an article is what follows its first line, a heading stands before what it heads."""
    rules = profile(
        syntax="html",
        act={"title": ["//p[class=law]"]},
        headings={
            "siblings": ["p[class=h1]", "p[class=h2]"], "continued_by": ["p[class=t]"], "title": ["."],
        },
        articles={"begins": ["p[class~=art]"], "number": ["p[class~=art]"], "rubric": ["p[class=rub]"]},
    )  # fmt: skip
    read = read_act(FLAT, rules)
    assert [(one.number, one.rubric, one.path, one.text) for one in read.articles] == [
        ("Article 1", "Burning", ("Title I Light", "Chapter 1"), "Lamps burn.\nAt night."),
        ("Article 2", "", ("Title I Light", "Chapter 1"), "Glass é & tin."),
        ("Article 3", "", ("Title II",), "The end\na | 1"),
    ]
    assert [title for _, title in read.headings] == ["Title I Light", "Chapter 1", "Title II"]
    assert read.act.title == "Lamp Act"


def test_levels_are_said_counted_or_begin_with_a_word(read_act):
    whole = ["TITLE I Lamps CHAPTER 1 Light", "CHAPTER 2 Of the title", "TITLE II Glass"]
    said = zip("121", ("010", "010010", "020"), whole, strict=True)
    act = "".join(f'<h l="{level}" k="{key}">{title}</h><r>text</r>' for level, key, title in said)
    for keys in ({"level": ["@l"]}, {"level": ["@k"], "digits": 3}):
        rules = profile(articles={"elements": ["r"]}, headings={"siblings": ["h"], "title": ["."], **keys})
        paths = [one.path for one in read_act(f"<a>{act}</a>", rules).articles]
        assert paths == [(whole[0],), (whole[0], whole[1]), (whole[2],)]


def test_an_annex_is_an_article_for_each_lowest_heading_without_one(read_act):
    act = (
        "<a><r><n>1</n>x</r><x><n>I</n><c><n>A</n>first</c><c><n>B</n>second</c></x>"
        "<x><n>II</n><c><n>A</n><r><n>1</n>third</r></c></x><x><n>III</n>fourth</x><x><n>IV</n></x></a>"
    )
    rules = profile(
        articles={"elements": ["r"], "number": ["n"], "word": "Rule"},
        headings={"elements": ["c"], "number": ["n"]},
        annexes={"elements": ["x"], "number": ["=Annex + n"]},
    )
    assert [(one.number, one.path, one.annex, one.text) for one in read_act(act, rules).articles] == [
        ("Rule 1", (), "", "x"),
        ("A", ("Annex I",), "Annex I", "first"),
        ("B", ("Annex I",), "Annex I", "second"),
        ("1", ("Annex II", "A"), "Annex II", "third"),
        ("Annex III", (), "", "fourth"),
    ]


def test_a_hook_changes_an_article_or_leaves_it_out(read_act):
    rules = profile(articles={"elements": ["r"], "number": ["n"]})
    rules.hook = lambda article, element: replace(article, rubric=element.get("k")) if element.get("k") else None
    (article,) = read_act("<a><r k='Light'><n>1</n>x</r><r><n>2</n>y</r></a>", rules).articles
    assert (article.number, article.rubric) == ("1", "Light")


def test_text_in_no_article_has_a_place(read_act):
    """What a heading contains, or stands between articles, is an article; what is around them all is left out."""
    act = (
        "<a><about>Lamps</about><pre><p>Whereas</p>\n<p>it is <b>dark</b>:</p></pre><note>sic</note>"
        "<c><t>Light</t>Lamps.<g><n>Burning</n><r>x</r><r>y</r></g><p>A <note>[1]</note>rest.</p></c>Between"
        "<c><t>Tin</t>Cans.</c><r>z</r><end>Done</end><x><t>Annex</t>Fees:<r>1</r>paid.</x><end>Bye</end></a>"
    )
    rules = profile(
        act={"title": ["about"]}, articles={"elements": ["r"], "rubric": ["../n"]}, leave_out={"notes": ["note"]},
        headings={"elements": ["c"], "title": ["t"]}, annexes={"elements": ["x"], "title": ["t"]},
    )  # fmt: skip
    account = Account()
    read = ActReader(etree.fromstring(act), rules, "a", account)
    assert [(one.rubric, one.path, one.text) for one in read.articles] == [
        ("Light", ("Light",), "Lamps."), ("Burning", ("Light",), "x"), ("Burning", ("Light",), "y"),
        ("Light", ("Light",), "A rest."), ("Tin", ("Tin",), "Cans."), ("", (), "Between"), ("", (), "z"),
        ("Annex", ("Annex",), "Fees:"), ("", ("Annex",), "1"), ("Annex", ("Annex",), "paid."),
    ]  # fmt: skip
    for text in etree.fromstring(act).itertext():
        account.read("a", text)
    balance = account.balance()
    assert (balance.left_out, balance.lost) == ({"preamble": 4, "notes": 2, "closing words": 2}, [])


def test_an_article_that_a_line_begins_ends_with_its_chapter(read_act):
    rules = profile(
        syntax="html", headings={"elements": ["div"], "title": ["h2"]},
        articles={"begins": ["p[class=art]"], "number": ["p[class=art]"]},
    )  # fmt: skip
    one, two = "<h2>One</h2><p class=art>1</p><p>Lamps.</p>", "<h2>Two</h2><p class=art>2</p>Tin."
    read = read_act(f"<html><body><div>{one}</div><p>Rest</p><div>{two}</div></body></html>", rules)
    assert [(one.number, one.path, one.text) for one in read.articles] == [
        ("1", ("One",), "Lamps."), ("", (), "Rest"), ("2", ("Two",), "Tin."),
    ]  # fmt: skip


def test_the_lowest_of_elements_that_contain_each_other_are_the_articles(read_act):
    """A section is an article, and so is a heading without a section in it; a subsection is text of both."""
    rules = profile(
        headings={"elements": ["part", "sub"], "number": ["n"]},
        articles={"lowest": ["section", "rule"], "number": ["n"], "word": ["rule = Rule", "Section"]},
    )
    act = (
        "<a><part><n>I</n><section><n>1</n><sub><n>(1)</n>Lamps</sub><sub><n>(2)</n>burn.</sub></section>"
        "<section><n>2</n><rule><n>1</n>Tin.</rule></section></part><section><n>3</n></section></a>"
    )
    read = read_act(act, rules)
    assert [(one.number, one.path, one.text) for one in read.articles] == [
        ("Section 1", ("I",), "(1)Lamps(2)burn."), ("Rule 1", ("I", "2"), "Tin."),
    ]  # fmt: skip
    assert [title for _, title in read.headings] == ["I", "2"]
    assert read.repealed == 1


def test_an_article_outside_the_headings_ends_them(read_act):
    rules = profile(
        headings={"siblings": ["h"], "title": ["."]}, articles={"elements": ["r"], "number": ["n"], "outside": ["@f"]}
    )
    read = read_act("<a><h>I</h><r><n>1</n>x</r><r f='y'><n>2</n>y</r><r><n>3</n>z</r></a>", rules)
    assert [one.path for one in read.articles] == [("I",), (), ()]
