"""Statutes from word processors: headings by style or outline level, numbers of lists as they are printed.

Inserted text and text boxes count; deleted text, notes, comments, headers, footers and contents are left out.
"""

from __future__ import annotations

import re
import unicodedata
import zipfile
from collections.abc import Iterator
from html import escape
from itertools import count, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from statgraph.errors import reason_of
from statgraph.extras import require
from statgraph.formats.documents.blocks import Line
from statgraph.formats.documents.drafting import DocumentLines, document_format
from statgraph.formats.documents.html import DELETED, MOST_BLOCKS, NOTES, plain_line
from statgraph.formats.documents.numbering import Numbering
from statgraph.formats.documents.office import M, W, archive_problem, find, formula, symbol, value
from statgraph.formats.documents.outline import CONTENTS
from statgraph.law.draft import Draft

if TYPE_CHECKING:
    from docx.document import Document as Docx

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_TITLE_STYLE = "Title"
_HEADING_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)  # the name in the file, whatever the program's language
_CONTENTS_STYLE = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)", re.IGNORECASE)
_RUNNING_TEXT = 9  # of outline levels
_CONTAINERS = {f"{W}{name}" for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")}
_DELETED = (f"{W}del", f"{W}moveFrom")
_UNREAD = {f"{W}{name}" for name in ("pPr", "rPr", "sdtPr", "sdtEndPr", "rubyPr", "instrText", "delInstrText")}
_CHARACTERS = {f"{W}{name}": "\t" for name in ("tab", "ptab")} | {f"{W}br": "\n", f"{W}cr": "\n"}
_CHARACTERS |= {f"{W}noBreakHyphen": "-", f"{W}softHyphen": "\u00ad"}
_ALIGNED = {"superscript": "sup", "subscript": "sub"}
_ALL_RAISED = re.compile(r"(?:\s*<sup>[^<]*</sup>)+\s*")
_RULES = {  # of the parts of a file, by the end of their type
    **dict.fromkeys(("footnotes+xml", "endnotes+xml", "comments+xml"), NOTES),
    **dict.fromkeys(("header+xml", "footer+xml"), "heads and feet of pages"),
}


def read_docx(draft: Draft, path: Path, name: str) -> DocumentLines | None:
    """Return the paragraphs and table rows of a document; a place counts all paragraphs, a cell's too, from 1."""
    require("documents", "docx")
    if problem := archive_problem(path, "word/document.xml"):
        draft.add_problem(name, problem)
        return None
    import docx

    try:
        reader = _Reader(docx.Document(str(path)), name)
        lines = list(reader.blocks(reader.document.element.body))
        reader.leave_out_parts()
    except Exception as error:  # python-docx raises what the XML makes it raise
        draft.add_problem(name, f"cannot be read as .docx ({reason_of(error)}); save it again")
        return None
    titles = [line for line in lines if line.level < 0]
    title = " ".join(" ".join(line.text.split()) for line in titles)
    return DocumentLines(title, [line for line in lines if line.level >= 0], left_out=reader.left_out)


class _Reader:
    """Reads the lines of a document, and notes in `left_out` what it leaves out."""

    def __init__(self, document: Docx, name: str):
        self.left_out: list[tuple[str, str]] = []
        self.document, self._name = document, name
        self._numbering = Numbering(document)
        self._places = {p: place for place, p in enumerate(document.element.body.iter(f"{W}p"), start=1)}
        self._styles: dict[str | None, Any] = {}  # the default one as ""
        for style in document.styles.element.iter(f"{W}style"):
            self._styles[style.get(f"{W}styleId")] = style
            if style.get(f"{W}type") == "paragraph" and style.get(f"{W}default") in ("1", "true", "on"):
                self._styles[""] = style

    def leave_out_parts(self) -> None:
        """Leave out the notes, comments, headers and footers."""
        from docx.oxml import parse_xml

        for part in self.document.part.package.iter_parts():
            for end, rule in _RULES.items():
                if part.content_type.endswith(end):
                    self._leave_out(rule, parse_xml(part.blob))

    def _leave_out(self, rule: str, element: Any) -> None:
        self.left_out += [(rule, self._text(paragraph, [])) for paragraph in element.iter(f"{W}p")]

    def blocks(self, parent: Any) -> Iterator[Line]:
        """Yield the lines of the paragraphs and tables in an element."""
        for block in parent:
            if block.tag == f"{W}p":
                yield from self._paragraph(block)
            elif block.tag == f"{W}tbl":
                yield from self._table(block)
            elif block.tag in _DELETED:
                self.left_out.append((DELETED, _all_text(block)))
            elif block.tag == f"{W}sdt" and value(block, "sdtPr/docPartObj/docPartGallery") == "Table of Contents":
                self._leave_out(CONTENTS, block)
            elif block.tag in _CONTAINERS:
                yield from self.blocks(block)
            elif block.tag == f"{_MC}AlternateContent":
                yield from self.blocks(_chosen(block))

    def _paragraph(self, paragraph: Any) -> Iterator[Line]:
        styles = self._styles_of(paragraph)
        boxes: list[Any] = []
        text = self._text(paragraph, boxes)
        if any(_CONTENTS_STYLE.fullmatch(value(style, "name")) for style in styles):
            self.left_out.append((CONTENTS, text))
        elif text.strip() or find(paragraph, "pPr/rPr/del") is None:
            level = _level(paragraph, styles)
            text = f"{self._numbering.mark(paragraph, styles)}{text}"
            for part in [" ".join(text.split())] if level else text.split("\n"):
                yield Line(f"{self._name}:{self._places[paragraph]}", part.strip(), level)
        for box in boxes:
            yield from self.blocks(box)

    def _table(self, table: Any) -> Iterator[Line]:
        above: dict[int, str] = {}  # the text of the cell that was last in a column
        for row in _within(table, "tr"):
            cells = list(_within(row, "tc"))
            if not self._is_data(cells):
                for cell in cells:
                    yield from self.blocks(cell)
                continue
            texts, column = [], int(value(row, "trPr/gridBefore") or 0)
            for cell in cells:
                text = " ".join(" ".join(line.text for line in self.blocks(cell)).split())
                goes_on = find(cell, "tcPr/vMerge") is not None and value(cell, "tcPr/vMerge") != "restart"
                above[column] = text or (above.get(column, "") if goes_on else "")
                texts.append(above[column])
                column += int(value(cell, "tcPr/gridSpan") or 1)
            place = self._places[next(row.iter(f"{W}p"))]
            yield Line(f"{self._name}:{place}", " | ".join(texts) if any(texts) else "")

    def _is_data(self, cells: list[Any]) -> bool:
        """Return whether a row holds data, and is not there to lay out a page."""
        paragraphs = [list(cell.iter(f"{W}p")) for cell in cells]
        return (
            len(cells) > 1
            and max(map(len, paragraphs)) <= MOST_BLOCKS
            and not any(next(cell.iter(f"{W}tbl"), None) is not None for cell in cells)
            and not any(_level(one, self._styles_of(one)) for cell in paragraphs for one in cell)
        )

    def _styles_of(self, paragraph: Any) -> list[Any]:
        """Return the style of a paragraph, the default one where it names none, and those on which it is based."""
        style = self._styles.get(value(paragraph, "pPr/pStyle"), self._styles.get(""))
        chain: list[Any] = []
        while style is not None and style not in chain:
            chain.append(style)
            style = self._styles.get(value(style, "basedOn") or None)
        return chain

    def _text(self, paragraph: Any, boxes: list[Any]) -> str:
        """Return the text of a paragraph, and add its text boxes to a list."""
        html = "".join(self._html(paragraph, boxes)).replace("</sup><sup>", "")
        html = re.sub("</?sup>", "", html) if _ALL_RAISED.fullmatch(html) else html
        return unicodedata.normalize("NFC", plain_line(html, self.left_out))

    def _html(self, element: Any, boxes: list[Any]) -> Iterator[str]:
        """Yield the texts in an element as HTML, what is raised, lowered or a link to a place with its tags."""
        for child in element:
            tag = child.tag
            if tag == f"{W}t" and find(element, "footnoteReference") is not None:
                self.left_out.append((NOTES, child.text or ""))
            elif tag == f"{W}t":
                name, text = self._alignment(element), escape(child.text or "", quote=False)
                yield f"<{name}>{text}</{name}>" if name and text.strip() else text
            elif tag in _CHARACTERS:
                yield _CHARACTERS[tag]
            elif tag == f"{W}sym":
                yield escape(symbol(child.get(f"{W}char") or "", child.get(f"{W}font") or ""), quote=False)
            elif tag == f"{M}oMath":
                yield escape(formula(child), quote=False)
            elif tag in (*_DELETED, f"{W}rt"):
                self.left_out.append((DELETED if tag in _DELETED else NOTES, _all_text(child)))
            elif tag == f"{W}txbxContent":
                boxes.append(child)
            elif tag not in _UNREAD:
                text = "".join(self._html(_chosen(child) if tag == f"{_MC}AlternateContent" else child, boxes))
                is_anchor = tag == f"{W}hyperlink" and child.get(f"{W}anchor") is not None
                yield f'<a href="#">{text}</a>' if is_anchor else text

    def _alignment(self, run: Any) -> str:
        """Return the tag of HTML that a run is in, "sup", "sub" or ""."""
        style = self._styles.get(value(run, "rPr/rStyle") or None)
        own = value(run, "rPr/vertAlign") or ("" if style is None else value(style, "rPr/vertAlign"))
        is_above = value(run, "rPr/position").strip("0").isdigit()
        return _ALIGNED.get(own or "superscript" * is_above, "")


def _within(element: Any, name: str) -> Iterator[Any]:
    """Yield the rows of a table or the cells of a row, also those in content controls."""
    for child in element:
        if child.tag == f"{W}{name}":
            yield child
        elif child.tag in _CONTAINERS:
            yield from _within(child, name)


def _chosen(alternatives: Any) -> Any:
    """Return the first alternative that holds text, or else the first: they show the same."""
    return next((one for one in alternatives if next(one.iter(f"{W}t", f"{M}t"), None) is not None), alternatives[0])


def _all_text(element: Any) -> str:
    return "".join(text.text or "" for text in element.iter(f"{W}t", f"{W}delText"))


def _level(paragraph: Any, styles: list[Any]) -> int:
    """Return the level of a heading, from 1; 0 of running text, -1 of the title."""
    if any(value(style, "name") == _TITLE_STYLE for style in styles):
        return -1
    for element in (paragraph, *styles):
        if named := _HEADING_STYLE.fullmatch(value(element, "name")):
            return int(named[1])
        level = value(element, "pPr/outlineLvl")
        if level.isdigit():
            return (int(level) + 1) % (_RUNNING_TEXT + 1)
    return 0


_WALKED = re.compile(r"word/(document|(?:foot|end)notes|comments|header\d*|footer\d*)\.xml")
_APART = {f"{W}{name}" for name in ("del", "moveFrom", "rt", "sym", "hyperlink")} | {f"{M}t"}
_BLANKS = {f"{W}{name}" for name in ("tab", "ptab", "br", "cr")}


def walk_docx(draft: Draft, path: Path, name: str) -> Iterator[tuple[str, str]]:
    """Yield (place, text) of every paragraph of a file, its notes, headers and footers; what is deleted apart."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    with zipfile.ZipFile(path) as archive:
        for part in archive.namelist():
            if found := _WALKED.fullmatch(part):
                where = name if found[1] == "document" else f"{name}[{found[1]}]"
                root = etree.fromstring(archive.read(part), parser)
                for place, paragraph in enumerate(root.iter(f"{W}p"), start=1):
                    if not any(map(_is_repeated, paragraph.iterancestors(f"{_MC}Fallback"))):
                        for _, texts in groupby(_walked(paragraph, 0, count(1)), lambda piece: piece[0]):
                            yield f"{where}:{place}", "".join(text for _, text in texts)


def _walked(element: Any, group: int, groups: Iterator[int]) -> Iterator[tuple[int, str]]:
    """Yield (a number that divides what stands apart, text) for the texts of a paragraph."""
    for child in element:
        is_apart = child.tag in _APART or find(child, "footnoteReference") is not None
        own = next(groups) if is_apart else group
        if child.tag in (f"{W}t", f"{W}delText", f"{M}t"):
            yield own, child.text or ""
        elif child.tag in _BLANKS:
            yield own, " "
        elif child.tag in (f"{W}noBreakHyphen", f"{W}sym"):
            yield own, "-" * (child.tag != f"{W}sym")
        elif child.tag != f"{W}txbxContent" and not _is_repeated(child):
            yield from _walked(child, own, groups)


def _is_repeated(element: Any) -> bool:
    """Return whether an element is for programs that cannot show the one before it."""
    other = element.getprevious() if element.tag == f"{_MC}Fallback" else None
    return other is not None and next(other.iter(f"{W}t", f"{M}t"), None) is not None


FORMAT = document_format(
    "documents of a word processor, an act a file", (".docx",), read_docx, walk_docx, is_text=False
)
