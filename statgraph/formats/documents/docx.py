"""Statutes from word processors: headings by style or outline level, numbers of lists as they are printed.

Inserted text counts, deleted text does not; notes, headers and text boxes are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statgraph.errors import reason_of
from statgraph.extras import require
from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.office import is_readable
from statgraph.law.citations.numbers import roman_numeral
from statgraph.law.draft import Draft

if TYPE_CHECKING:
    from docx.document import Document as Docx
    from docx.text.paragraph import Paragraph

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_TITLE_STYLE = "Title"
_HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)  # the name in the file, whatever the program's language
_RUNNING_TEXT = 9  # of outline levels
_LEFT_OUT = {f"{_W}{name}" for name in ("del", "moveFrom", "txbxContent", "instrText")}
_CHARACTERS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}


def read_docx(draft: Draft, path: Path, name: str) -> DocumentLines | None:
    """Return the paragraphs and table rows of a document; a place counts paragraphs and rows from 1."""
    require("documents", "docx")
    if not is_readable(draft, path, name, "word/document.xml"):
        return None
    import docx

    try:
        document = docx.Document(str(path))
        lines = list(_lines(document, name))
    except Exception as error:  # python-docx raises what the XML makes it raise
        draft.add_problem(name, f"cannot be read as .docx ({reason_of(error)}); save it again")
        return None
    titles = [line for line in lines if line.level < 0]
    title = " ".join(" ".join(line.text.split()) for line in titles)
    return DocumentLines(title, [line for line in lines if line.level >= 0])


def walk_docx(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of all that stands in a file."""
    document = read_docx(draft, path, name)
    return ((line.place, line.text) for line in (document.lines if document else ()))


def _lines(document: Docx, name: str) -> Iterator[Line]:
    from docx.table import Table

    numbering = _Numbering(document)
    place = 0
    for block in document.iter_inner_content():
        if isinstance(block, Table):
            for row in block.rows:
                place += 1
                # A cell that spans columns is there once for each.
                cells = dict.fromkeys(cell._tc for cell in row.cells)
                texts = [" ".join(" ".join(map(_text, cell.iter(f"{_W}p"))).split()) for cell in cells]
                yield Line(f"{name}:{place}", " | ".join(texts) if any(texts) else "")
            continue
        place += 1
        level = _level(block)
        text = f"{numbering.mark(block)}{_text(block._p)}"
        for part in [" ".join(text.split())] if level else text.split("\n"):
            yield Line(f"{name}:{place}", part.strip(), level)


def _text(paragraph: Any) -> str:
    """Return the text of a paragraph's element."""
    pieces: list[str] = []
    stack = [paragraph]
    while stack:
        element = stack.pop()
        if element.tag == f"{_W}t":
            pieces.append(element.text or "")
        elif element.tag in _CHARACTERS:
            pieces.append(_CHARACTERS[element.tag])
        elif element.tag not in _LEFT_OUT and element.tag != f"{_W}pPr":
            stack.extend(reversed(element))
    return "".join(pieces)


def _level(paragraph: Paragraph) -> int:
    """Return the level of a heading, from 1; 0 of running text, -1 of the title."""
    levels = [_outline_level(paragraph._p.pPr)]
    style = paragraph.style
    seen = 0
    while style is not None and seen < _RUNNING_TEXT:
        if style.name == _TITLE_STYLE:
            return -1
        named = _HEADING_STYLE.fullmatch(style.name or "")
        levels += [int(named[1]) if named else None, _outline_level(style.element.find(f"{_W}pPr"))]
        style, seen = style.base_style, seen + 1
    return next((level for level in levels if level is not None), 0)


def _outline_level(properties: Any) -> int | None:
    found = None if properties is None else properties.find(f"{_W}outlineLvl")
    value = "" if found is None else found.get(f"{_W}val") or ""
    return None if not value.isdigit() else (int(value) + 1) % (_RUNNING_TEXT + 1)


class _Numbering:
    """Counts the paragraphs of numbered lists, whose numbers are not in their text."""

    def __init__(self, document: Docx):
        self._levels: dict[str, Mapping[int, tuple[str, str, int]]] = {}  # of a list: (format, text, start)
        self._abstract: dict[str, str] = {}
        self._counts: dict[str, dict[int, int]] = {}
        try:
            root = document.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return
        for abstract in root.iter(f"{_W}abstractNum"):
            levels = {int(level.get(f"{_W}ilvl")): _level_of_list(level) for level in abstract.iter(f"{_W}lvl")}
            self._levels[abstract.get(f"{_W}abstractNumId")] = levels
        for number in root.iter(f"{_W}num"):
            self._abstract[number.get(f"{_W}numId")] = number.find(f"{_W}abstractNumId").get(f"{_W}val")

    def mark(self, paragraph: Paragraph) -> str:
        """Return what is printed before a paragraph: "(a) ", "- ", "" where it is in no list."""
        found = self._of(paragraph)
        if found is None:
            return ""
        identifier, level = found
        levels = self._levels.get(self._abstract.get(identifier, ""), {})
        if level not in levels:
            return ""
        kind, text, start = levels[level]
        if kind == "bullet":
            return "- "
        counts = self._counts.setdefault(self._abstract[identifier], {})
        counts[level] = counts.get(level, start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        for above in range(level):
            counts.setdefault(above, levels.get(above, ("", "", 1))[2])
        formats = {at + 1: levels.get(at, ("decimal", "", 1))[0] for at in range(level + 1)}
        shown = re.sub(r"%(\d)", lambda at: _printed(counts.get(int(at[1]) - 1, 1), formats.get(int(at[1]), "")), text)
        return f"{shown} " if shown.strip() else ""

    @staticmethod
    def _of(paragraph: Paragraph) -> tuple[str, int] | None:
        """Return (id of the list, level) of a paragraph, by its own properties or its style's."""
        style, properties = paragraph.style, paragraph._p.pPr
        for _ in range(_RUNNING_TEXT):
            numbered = None if properties is None else properties.find(f"{_W}numPr")
            if numbered is not None and (identifier := numbered.find(f"{_W}numId")) is not None:
                level = numbered.find(f"{_W}ilvl")
                return identifier.get(f"{_W}val"), 0 if level is None else int(level.get(f"{_W}val"))
            if style is None:
                return None
            properties, style = style.element.find(f"{_W}pPr"), style.base_style
        return None


def _level_of_list(level: Any) -> tuple[str, str, int]:
    values = {name: level.find(f"{_W}{name}") for name in ("numFmt", "lvlText", "start")}
    kind, text, start = (("" if found is None else found.get(f"{_W}val") or "") for found in values.values())
    return kind, text, int(start) if start.isdigit() else 1


def _printed(number: int, kind: str) -> str:
    if kind.endswith("Letter"):
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif kind.endswith("Roman"):
        text = roman_numeral(number)
    else:
        return "" if kind == "none" else str(number)
    return text.upper() if kind.startswith("upper") else text


FORMAT = document_format(
    "documents of a word processor, an act a file", (".docx",), read_docx, walk_docx, is_text=False
)
