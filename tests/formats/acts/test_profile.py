"""Profiles: what is wrong with one, which one a file gets, and what each of statgraph's own makes of a made-up act.

`made_up/NAME.xml` is an act in the format of the profile NAME, `NAME.txt` beside it what must be read: the act, then
each article with number, rubric and path; id, annex, dates and targets; text.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from statgraph.errors import CorpusError, UsageError
from statgraph.formats.acts.profile import fitting_profile, profile_named, profile_names
from statgraph.formats.acts.reader import ActReader, parsed, root_of

MADE_UP = Path(__file__).parent / "made_up"


def as_read(name: str) -> str:
    """Return what is read from a made-up act, in the form of the files beside it."""
    profile = profile_named(name)
    root = parsed((MADE_UP / f"{name}.xml").read_bytes(), profile.settings.syntax, name)
    reader = ActReader(root, profile, f"{name}.xml")
    act = reader.act
    lines = [" | ".join((act.act_id, act.title, act.language, act.licence, act.date))]
    for one in reader.articles:
        lines += ["", " | ".join((one.number, one.rubric, " > ".join(one.path)))]
        lines += [" | ".join((one.local_id, one.annex, one.valid_from, one.valid_to, " ".join(one.targets))), one.text]
    lines += ["", f"without text {reader.repealed}, quoted {reader.quoted}", ""]
    return "\n".join(lines)


@pytest.mark.parametrize("name", profile_names())
def test_a_made_up_act_of_each_format_is_recognised_and_read(name):
    head = (MADE_UP / f"{name}.xml").read_bytes()
    assert fitting_profile(head, root_of(head)).name == name
    assert as_read(name) == (MADE_UP / f"{name}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("head", [b"<html><body>A lamp.</body></html>", b"<lamps/>", b"{}", b""])
def test_other_files_are_of_no_format(head):
    assert fitting_profile(head, root_of(head)) is None


@pytest.fixture
def profile_of(tmp_path):
    def written(text: str):
        path = tmp_path / "lamps.yaml"
        path.write_text(text, encoding="utf-8")
        return profile_named(str(path))

    return written


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("articles: {elements: [sec tion]}", "'articles.elements': 'sec tion' names no element; write it like section"),
        ("articles: {elements: 'p[class'}", "'articles.elements': 'p[class' names no element"),
        (
            "articles: {elements: a, number: 'num['}",
            "'articles.number': 'num[' is no place of a text; write it like num",
        ),
        ("articles: {elements: a, number: 'num ~ (('}", "'articles.number': '((' is no regular expression"),
        ("articles: {elements: a}\nremove: '('", "'remove': '(' is no regular expression"),
        ("articles: {elements: a}\nwrite: dots", "'write': 'dots' has no ' = '; write it like Omissis = ..."),
        ("articles: {elements: a}\nlinse: [p]", "'linse' is not a setting; did you mean 'lines'?"),
        ("articles: {elements: a, rubrics: b}", "'articles.rubrics' is not a setting; did you mean 'articles.rubric'?"),
        ("articles: [section]", "'articles' is a group of settings; set one of articles.elements"),
        ("articles: {elements: [{a: b}]}", "'articles.elements' holds {'a': 'b'}, which is no text; put it in quotes"),
        ("articles: {elements: a}\nheadings: {digits: some}", "'headings.digits' must be a whole number (got 'some')"),
        ("articles: {elements: a}\nsyntax: sgml", "syntax: must be one of xml, html (got 'sgml')"),
        ("articles: {elements: a}\nbased_on: akk", "'based_on' is 'akk'; use one of akn, "),
        ("articles: {elements: a}\nhook: fix", "unknown hook of a profile 'fix'"),
        ("summary: lamps", "'articles.elements' is missing; name the elements of articles"),
        ("- a", "holds no keys; begin with 'articles:'"),
        ("articles: {elements: [a[1]}", "lamps.yaml:1: invalid YAML"),
    ],
)
def test_a_mistake_is_one_line_with_key_value_and_remedy(profile_of, text, problem):
    with pytest.raises(UsageError) as caught:
        profile_of(text)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_profile_lists_the_known(tmp_path):
    with pytest.raises(UsageError, match="unknown profile 'latin'; choose from akn, "):
        profile_named("latin")
    with pytest.raises(UsageError, match="cannot be read"):
        profile_named(str(tmp_path / "gone.yaml"))


def test_a_profile_adds_to_the_one_it_is_based_on(profile_of):
    profile = profile_of("based_on: akn\nleave_out: {notes: [inherited, stamp]}\nquoted: [box]")
    akn = profile_named("akn").settings.leave_out
    assert profile.settings.leave_out == replace(akn, notes=(*akn.notes, "stamp"))
    listed = profile_of("articles: {elements: a}\nleave_out: [note, toc]")
    assert listed.settings.leave_out.other == ("note", "toc")
    assert profile.settings.quoted == ("box",)
    assert profile.settings.articles == profile_named("akn").settings.articles
    assert profile.settings.recognise.root == ()


def test_a_last_day_in_force_becomes_the_day_after(profile_of, read_act):
    profile = profile_of("articles: {elements: a, last_day: '@to', number: '=§ + n & i'}\nraised: [i]")
    one, two = read_act("<l><a to='2019-12-31'><n>5</n><i>1</i>x</a><a><n>6</n>y</a></l>", profile).articles
    assert [(read.number, read.text, read.valid_to) for read in (one, two)] == [
        ("§ 5¹", "x", "2020-01-01"),
        ("§ 6", "y", ""),
    ]


def test_what_is_left_out_can_still_be_the_title_of_a_heading(profile_of, read_act):
    keys = "headings: {elements: c, number: top/n}\nleave_out: {notes: top}\narticles: {elements: a, number: top/n}"
    chapter = "<c><top><n>{}</n></top><a><top><n>1</n></top>x</a></c>"
    read = read_act(f"<l>{''.join(map(chapter.format, 'IVX'))}</l>", profile_of(keys))
    assert [(one.path, one.number, one.text) for one in read.articles] == [((n,), "1", "x") for n in "IVX"]


def test_the_level_of_a_heading_is_a_number_or_a_known_word(profile_of, read_act):
    keys = "headings: {{siblings: h, level: '. ~ ^.', title: ., words: [{}]}}\narticles: {{elements: a}}"
    law = "<l><h>編 I</h><h>章 1</h><a>x</a>\n<h>節 2</h><a>y</a></l>"
    assert read_act(law, profile_of(keys.format("編, 章, 節"))).articles[1].path == ("編 I", "章 1", "節 2")
    with pytest.raises(
        CorpusError, match=r"act.xml:2: the level of a heading is '節'; let .* find a number or one of 編, 章$"
    ):
        read_act(law, profile_of(keys.format("編, 章")))
