import pytest

from statgraph.formats.documents import markdown
from statgraph.formats.documents.markdown import read_markdown, walk_markdown

LAW = """---
title: of the file
---
# Dog *Act*

Part 1
======

### Section 1 Barking

A **dog** may bark
at [cats](https://example.org).

2. first
   - inner
3. second

| Dog | Fee |
| --- | --- |
| big | `5` |

> quoted

    code
"""


@pytest.fixture
def read(draft, tmp_path):
    """Return a function that reads a Markdown file."""

    def read(content):
        (tmp_path / "law.md").write_text(content, encoding="utf-8")
        return read_markdown(draft, tmp_path / "law.md", "law.md")

    return read


def test_each_paragraph_item_and_row_is_a_line(read):
    law = read(LAW)
    assert (law.title, law.is_wrapped, law.left_out) == ("", False, [("metadata", "title: of the file")])
    assert [(line.place, line.text, line.level) for line in law.lines] == [
        ("law.md:4", "Dog Act", 1),
        ("law.md:6", "Part 1", 1),
        ("law.md:9", "Section 1 Barking", 3),
        ("law.md:11", "A dog may bark", 0),
        ("law.md:12", "at cats.", 0),
        ("law.md:14", "2. first", 0),
        ("law.md:15", "- inner", 0),
        ("law.md:16", "3. second", 0),
        ("law.md:18", "Dog | Fee", 0),
        ("law.md:20", "big | 5", 0),
        ("law.md:22", "quoted", 0),
        ("law.md:24", "code", 0),
    ]


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("A dog\nmay bark.", ["law.md:1 A dog", "law.md:2 + may bark."]),
        ("A dog  \nmay\\\nbark<br>\nbite", ["law.md:1 A dog", "law.md:2 may", "law.md:3 bark", "law.md:4 bite"]),
        ("A<br>dog\nmay\nbark", ["law.md:1 A", "law.md:1 dog", "law.md:2 + may", "law.md:3 + bark"]),
        ("- A dog\n  may\n\n> if\n> seen", ["law.md:1 - A dog", "law.md:2 + may", "law.md:4 if", "law.md:5 + seen"]),
        ("Signed\n:   in May\n    or June", ["law.md:1 Signed", "law.md:2 in May", "law.md:3 + or June"]),
        ("A dog\nmay\n===", ["law.md:1 A dog may"]),
        ("A dog\nmay\n---\nDogs\n---", ["law.md:1 A dog", "law.md:2 + may", "law.md:4 Dogs"]),
    ],
)  # fmt: skip
def test_a_soft_break_goes_on_and_a_hard_one_does_not(read, content, lines):
    assert [f"{line.place} {'+ ' * line.goes_on}{line.text}" for line in read(content).lines] == lines


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        ("1.  a dog\n\n    a)  big\n\n    b)  small\n\n2.  a cat", ["1. a dog", "a)  big", "b)  small", "2. a cat"]),
        ("1. - big\n   - small\n\n   dogs\n3.\n4) cats", ["1. - big", "- small", "dogs", "3.", "4) cats"]),
        ("*   (1) Dogs\n*   a) bark\n*   at cats", ["(1) Dogs", "a) bark", "- at cats"]),
        ("(1) Dogs\n\n    bark", ["(1) Dogs", "bark"]),
        ("| Dog | Fee |\n|---|---|\n| a<br>b | 5<sup>2</sup> |", ["Dog | Fee", "a b | 5²"]),
        ("```\na\n\nb\n```", ["a", "", "b"]),
    ],
)
def test_items_keep_their_marks_and_order(read, content, texts):
    assert [line.text for line in read(content).lines] == texts


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("1\\. **Dogs** _bark_ ~~at~~ `cats`", "1. Dogs bark at cats"),
        ("Art. 22<sup>1</sup>, 10^6^ m^-1^ H~2~O, 1<sup>er</sup>", "Art. 22¹, 10⁶ m⁻¹ H2O, 1er"),
        ("1<sup>1</sup>/<sub>2</sub> &sect;&nbsp;5", "1 1/2 §\xa05"),
        ("Cafe\u0301", "Café"),
        (
            'see [dogs][d] and [cats](c.md#1 "Cats"), ![seal](seal.png)\n\n[d]: https://dogs.example',
            "see dogs and cats, seal",
        ),
        ("[Fee](1) is due", "Fee(1) is due"),
        ("[1]: Repealed", "[1]: Repealed"),
        ("<div>a <b>dog</b></div>", "a dog"),
        ("a <span class='x'>dog</span><!-- no dog -->", "a dog"),
        ("22<span style='vertical-align: super'>1</span> < 23<sup>er</sup>", "22¹ < 23er"),
        ("<!-- no\n\ndog -->\n\na dog", "a dog"),
        ("</div>\n\na dog", "a dog"),
        ("## a dog {#no .x}", "a dog"),
    ],
)
def test_marks_are_no_text(draft, read, tmp_path, content, text):
    assert [line.text for line in read(content).lines] == [text]
    walked = " ".join(text for _, text in walk_markdown(draft, tmp_path / "law.md", "law.md"))
    assert "no" not in walked
    assert "example" not in walked


def test_footnotes_are_left_out_as_notes(read):
    law = read("Dogs[^1] bark<sup>[b](#b)</sup>.\n\n[^1]: Changed\nin May.\n\n    Twice.\n\nCats\n\n[^b]: Old")
    assert [(line.place, line.text) for line in law.lines] == [("law.md:1", "Dogs bark."), ("law.md:8", "Cats")]
    assert [text.strip() for rule, text in law.left_out if rule == "notes"] == [
        "[^1]: Changed", "in May.", "Twice.", "[^b]: Old", "[^1]", "b",
    ]  # fmt: skip


def test_links_to_headings_are_contents(read):
    law = read(
        "- [1 **Dogs**](#1)\n- [2 Cats](#2)\n\n## 1 Dogs\n\n[1 Dogs](#1)\nbark\n\n"
        "[2 Cats](x.md)\n\n## [Owls](#)\n\n[](#1)"
    )
    assert law.left_out == [("contents", "1 Dogs")]
    assert [line.text for line in law.lines] == ["- 2 Cats", "1 Dogs", "1 Dogs", "bark", "2 Cats", "Owls"]


def test_the_title_of_the_front_matter_is_that_of_a_file_without_one(read):
    assert read('---\nTitle: "Dog Act"\n---\n## § 1\n').title == "Dog Act"
    assert read("---\nTitle: Dog Act\n...\n# Dogs\n").title == ""
    assert [line.text for line in read("---\nTitle: Dog Act\n").lines] == ["Title: Dog Act"]


# As in collections of German acts, and as exports of footnotes and links write them.
ACT = """---
Title: Hundegesetz
jurabk: HuG

---

# Hundegesetz (HuG)

Ausfertigungsdatum
:   1896-08-18

## § 1 Begriff

(1) Ein **Hund** ist ein [Tier](https://tier.example/hund), das bellt[^1]
oder beißt[<sup>2</sup>](#n2); 10<sup>2</sup> Hunde<sup>[[3]](#n3)</sup> sind <a href="#n4"><sup>4</sup></a>eine Meute:

1.  große, die mehr als 5 kg
    wiegen,

    a)  in der Stadt,

2.  kleine.

| Hund | Steuer |
|------|-------:|
| groß | 5 &euro; |

<!-- Ende -->

[^1]: Neu gefasst.
"""


def test_a_paragraph_that_the_reader_drops_is_missed(tmp_path, without_lines):
    (tmp_path / "law.md").write_text(ACT, encoding="utf-8")
    corpus = without_lines(markdown, read_markdown, walk_markdown, tmp_path / "law.md", "beißt", "law.md:15")
    assert "10² Hunde" not in corpus.articles[0].text


def test_every_word_of_an_act_is_somewhere(draft, tmp_path):
    (tmp_path / "law.md").write_text(ACT, encoding="utf-8")
    markdown.FORMAT.fill(draft, tmp_path / "law.md")
    assert draft.report.balance.left_out["notes"] == 7
    assert [lost.text for lost in draft.report.balance.lost] == []
