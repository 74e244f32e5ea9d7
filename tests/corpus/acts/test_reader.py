import pytest

from statgraph.corpus.acts.reader import iso_date, language_code
from statgraph.errors import CorpusError

AKN = """<akomaNtoso xmlns="http://docs.oasis-open.org/legaldocml/ns/akn/3.0"><act>
<meta><identification><FRBRWork><FRBRuri value="/akn/xx/act/dogs"/></FRBRWork><FRBRExpression>
<FRBRdate date="2024-05-01"/><FRBRlanguage language="eng"/></FRBRExpression></identification></meta>
<preface><longTitle><p>Dog <docTitle>Dog Act</docTitle></p></longTitle></preface>
<body><chapter><num>Chapter 1</num><heading>General</heading>
<article eId="art_1"><num>Art. 1.</num><heading>Leads</heading><paragraph><num>(1)</num><list>
<intro><p>Dogs are kept:</p></intro><point><num>(a)</num><content><p>on leads<authorialNote><p>As
amended.</p></authorialNote>; and</p></content></point><point><num>(b)</num><content><p>off
<ref href="#art_2__para_1">article 2(1)</ref> roads.</p></content></point></list></paragraph></article></chapter>
<chapter><num>Chapter 2</num><heading>Duties</heading><section><heading>Owners</heading>
<article eId="art_2"><num>Art. 2</num><paragraph><content><p>The Cat Act reads: <quotedStructure>
<article eId="art_9"><num>Art. 9</num><content><p>Cats roam.</p></content></article></quotedStructure></p>
</content></paragraph></article></section><article eId="art_3"><num>Art. 3</num></article></chapter></body>
<attachments><attachment eId="att_1"><heading>Annex</heading><doc><mainBody><table><tr><td>Size</td><td>Fee</td></tr>
<tr><td>small</td><td>5</td></tr></table></mainBody></doc></attachment></attachments></act></akomaNtoso>"""


@pytest.fixture
def dogs(read_act):
    return read_act(AKN, "akn")


def test_articles_have_number_rubric_path_and_id(dogs):
    first, second, annex = dogs.articles
    assert (first.number, first.rubric, first.local_id, first.line) == ("Art. 1", "Leads", "art_1", 6)
    assert first.path == ("Chapter 1 General",)
    assert second.path == ("Chapter 2 Duties", "Owners")
    assert (annex.rubric, annex.local_id, annex.text) == ("Annex", "att_1", "Size | Fee\nsmall | 5")
    assert dogs.act.act_id == "/akn/xx/act/dogs"
    assert (dogs.act.title, dogs.act.language, dogs.act.date) == ("Dog Act", "en", "2024-05-01")


def test_marks_stay_with_their_text_and_notes_go(dogs):
    text = dogs.articles[0].text
    assert text == "(1) Dogs are kept:\n(a) on leads; and\n(b) off article 2(1) roads."
    assert dogs.articles[0].targets == ("#art_2__para_1",)


def test_what_is_quoted_is_text_and_what_is_empty_is_counted(dogs):
    assert dogs.articles[1].text == "The Cat Act reads:\nArt. 9 Cats roam."
    assert (dogs.quoted, dogs.repealed, dogs.left_out["meta"]) == (1, 1, 1)


def test_headings_are_found_with_their_lines(dogs):
    assert [(one.depth, one.title) for one in dogs.headings] == [
        (1, "Chapter 1 General"),
        (1, "Chapter 2 Duties"),
        (2, "Owners"),
        (1, "Annex"),
    ]
    assert dogs.headings[0].line == 5


LAUGHS = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))


@pytest.mark.parametrize(
    ("hostile", "keyword"),
    [
        (f'<!DOCTYPE a [<!ENTITY a "{"ha" * 50}">{LAUGHS}]><act>&i;</act>', "amplification"),
        ('<!DOCTYPE a [<!ENTITY e SYSTEM "file:///etc/hostname">]><act>&e;</act>', "not defined"),
        ('<!DOCTYPE a SYSTEM "http://127.0.0.1:9/a.dtd"><act>&nbsp;</act>', "not defined"),
        ("<p>" * 3000 + "</p>" * 3000, "depth"),
        (AKN[: len(AKN) // 2], "act.xml:"),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("20240131", "2024-01-31"),
        ("2024-01-31T10:00:00", "2024-01-31"),
        ("31.1.2024", "2024-01-31"),
        ("9999-12-31", ""),
        ("0001-01-01", ""),
        ("2024-02-31", ""),
        ("soon", ""),
    ],
)
def test_dates(text, expected):
    assert iso_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ita", "it"),
        ("en-US", "en"),
        ("EN", "en"),
        ("http://example.org/language/FRA", "fr"),
        ("roh", "rm"),
        ("", ""),
        ("x", ""),
    ],
)
def test_languages(text, expected):
    assert language_code(text) == expected
