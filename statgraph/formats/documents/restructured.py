"""Statutes as reStructuredText: a line of marks below a title makes it a heading."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.outline import Line
from statgraph.law.draft import Draft
from statgraph.law.lines import all_lines

_UNDERLINE = re.compile(r"([=\-~^\"'#*+])\1{2,}\s*")


def read_restructured(draft: Draft, path: Path, name: str) -> DocumentLines:
    """Return the lines of a file, its headings with levels by the order in which their marks appear."""
    marks: list[str] = []
    lines = []
    for (place, text), (_, below) in pairwise([*all_lines(draft, path, name), ("", "")]):
        if _UNDERLINE.fullmatch(text):
            continue
        underline = _UNDERLINE.fullmatch(below) if text.strip() else None
        if underline and underline[1] not in marks:
            marks.append(underline[1])
        lines.append(Line(place, text, marks.index(underline[1]) + 1 if underline else 0))
    return DocumentLines("", lines, is_wrapped=True)


FORMAT = document_format("reStructuredText, an act a file", (".rst",), read_restructured)
