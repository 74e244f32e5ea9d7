from statgraph.formats.documents.markdown import read_markdown

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


def test_each_paragraph_item_and_row_is_a_line(draft, tmp_path):
    (tmp_path / "law.md").write_text(LAW, encoding="utf-8")
    lines = read_markdown(draft, tmp_path / "law.md", "law.md").lines
    assert [(line.place, line.text, line.level) for line in lines if line.text] == [
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
